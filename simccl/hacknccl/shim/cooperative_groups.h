// Device code only; the host side of NCCL includes it without using it.
#pragma once
