"""Two layers of a decoder; the second repeats its forward pass in the backward pass. Two micro-batches a step."""
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

HIDDEN, HEADS, FEEDFORWARD, VOCABULARY, SEQUENCE, BATCH = 256, 4, 1024, 1000, 128, 2


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(HIDDEN)
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN, bias=False)
        self.projection = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.up = nn.Linear(HIDDEN, FEEDFORWARD, bias=False)
        self.down = nn.Linear(FEEDFORWARD, HIDDEN, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).view(BATCH, SEQUENCE, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(y.transpose(1, 2).reshape(x.shape))
        return x + self.down(functional.gelu(self.up(x)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, HIDDEN)
        self.layers = nn.ModuleList([Layer(), Layer()])
        self.head = nn.Linear(HIDDEN, VOCABULARY, bias=False)

    def forward(self, tokens):
        x = self.layers[0](self.embedding(tokens))
        return self.head(checkpoint(self.layers[1], x, use_reentrant=True))


torch.set_default_device("cuda")
model = Model().bfloat16()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for _ in range(3):
    for _ in range(2):
        tokens = torch.randint(VOCABULARY, (BATCH, SEQUENCE))
        loss = functional.cross_entropy(model(tokens).view(-1, VOCABULARY), tokens.view(-1))
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
