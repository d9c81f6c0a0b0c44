# The foreign libraries that Drydock links. All come from the distribution's packages except NCCL and ns-3
# (third_party/README.md). DRYDOCK_DEPS_DIR is where scripts/setup.sh builds those two.
set(DRYDOCK_DEPS_DIR ${CMAKE_SOURCE_DIR}/.deps CACHE PATH "Where NCCL and ns-3 were built")

find_package(Threads REQUIRED)
find_package(EXPAT REQUIRED)
find_package(Protobuf REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
find_library(DRYDOCK_MD_LIBRARY md REQUIRED)
