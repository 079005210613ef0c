/* libcuda.so.1 and libnvrtc.so.12 without a GPU: they compile and launch nothing, and keep a log of
 * launches.
 *
 * A line is "kernel F A B": a launch of function F, whose first two parameters begin with the words
 * A and B. Lines of the kernels of a graph follow a line "graph". FAKE_NO_GRAPHS: the driver makes
 * no graph. FAKE_STUBBORN: graphs take no other parameters. After fake_capture(1) all streams are
 * captured. FAKE_CLUSTERS: so many clusters fit on the device. Device memory is memory of the host.
 *
 * "encode A B": a tensor is described whose innermost extents are A and B (0: there is no B);
 * "address A": a description is for elements that begin at A. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOES_NOTHING(name) \
  int name() {             \
    return 0;              \
  }
DOES_NOTHING(cuInit)
DOES_NOTHING(cuDeviceGet)
DOES_NOTHING(cuCtxPopCurrent_v2)
DOES_NOTHING(cuCtxPushCurrent_v2)
DOES_NOTHING(cuModuleUnload)
DOES_NOTHING(cuFuncSetAttribute)
DOES_NOTHING(cuOccupancyMaxActiveBlocksPerMultiprocessor)
DOES_NOTHING(cuMemcpyDtoDAsync_v2)
DOES_NOTHING(cuMemsetD8Async)
DOES_NOTHING(cuEventCreate)
DOES_NOTHING(cuEventDestroy_v2)
DOES_NOTHING(cuEventRecord)
DOES_NOTHING(cuStreamWaitEvent)
DOES_NOTHING(cuEventSynchronize)
DOES_NOTHING(cuEventElapsedTime)
DOES_NOTHING(cuLaunchCooperativeKernel)
DOES_NOTHING(cuGraphKernelNodeSetAttribute)
DOES_NOTHING(cuThreadExchangeStreamCaptureMode)

static char text[1 << 20];
static size_t length;

const char* fake_log(void) {
  return text;
}
void fake_clear(void) {
  length = 0;
  text[0] = 0;
}

static void note(const char* line) {
  length += (size_t)snprintf(text + length, sizeof(text) - length, "%s\n", line);
}

/* ---- Devices ---- */

int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuGetErrorName(int error, const char** name) {
  *name = "CUDA_ERROR";
  return 0;
}
int cuGetErrorString(int error, const char** name) {
  *name = "an error";
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGetName(char* name, int size, int device) {
  snprintf(name, (size_t)size, "fake");
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  switch (attribute) {
    case 1: *value = 1024; break;          /* threads of a block */
    case 8: *value = 49152; break;         /* shared bytes of a block */
    case 10: *value = 32; break;           /* threads of a warp */
    case 12: case 82: *value = 65536; break; /* registers */
    case 16: *value = 132; break;          /* multiprocessors */
    case 37: *value = 6144; break;         /* bits of the memory bus */
    case 38: *value = 62914560; break;     /* bytes of L2 */
    case 39: *value = 2048; break;         /* threads of a multiprocessor */
    case 75: *value = 9; break;            /* compute capability */
    case 76: *value = 0; break;
    case 81: *value = 233472; break;
    case 97: *value = 232448; break;
    case 111: *value = 1024; break;
    default: *value = 1;
  }
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = (size_t)1 << 37;
  return 0;
}
static int context;
int cuDevicePrimaryCtxRetain(void** result, int device) {
  *result = &context;
  return 0;
}
int cuCtxGetCurrent(void** result) {
  *result = &context;
  return 0;
}
static int capture_status;
void fake_capture(int status) {
  capture_status = status;
}
int cuStreamIsCapturing(void* stream, int* status) {
  *status = capture_status;
  return 0;
}
int cuStreamGetId(void* stream, unsigned long long* id) {
  *id = (unsigned long long)(uintptr_t)stream + 1;
  return 0;
}

/* ---- Kernels ---- */

int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
  *module = malloc(1);
  return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  *function = module;
  return 0;
}
int cuFuncGetAttribute(int* value, int attribute, void* function) {
  *value = attribute == 0 ? 1024 : attribute == 4 ? 16 : attribute == 8 ? 49152 : 0;
  return 0;
}

struct Kernel {
  void* function;
  uint64_t words[2];
};

static struct Kernel kernel_of(void* function, void** parameters) {
  struct Kernel kernel = {function, {0, 0}};
  for (int i = 0; i < 2; ++i) {
    memcpy(&kernel.words[i], parameters[i], sizeof(uint64_t));
  }
  return kernel;
}

static void note_kernel(const struct Kernel* kernel) {
  char line[128];
  snprintf(
      line, sizeof(line), "kernel %llu %llu %llu", (unsigned long long)(uintptr_t)kernel->function,
      (unsigned long long)kernel->words[0], (unsigned long long)kernel->words[1]);
  note(line);
}

int cuLaunchKernel(
    void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
    unsigned shared_bytes, void* stream, void** parameters, void** extra) {
  const struct Kernel kernel = kernel_of(function, parameters);
  note_kernel(&kernel);
  return 0;
}

int cuLaunchKernelEx(const void* config, void* function, void** parameters, void** extra) {
  const struct Kernel kernel = kernel_of(function, parameters);
  note("early");
  note_kernel(&kernel);
  return 0;
}

int cuOccupancyMaxActiveClusters(int* clusters, void* function, const void* config) {
  const char* fitting = getenv("FAKE_CLUSTERS");
  *clusters = fitting == NULL ? 66 : atoi(fitting);
  return 0;
}

/* ---- Descriptions of tensors ---- */

int cuTensorMapEncodeTiled(
    void* map, int type, unsigned rank, void* address, const uint64_t* extents) {
  char line[128];
  snprintf(
      line, sizeof(line), "encode %llu %llu", (unsigned long long)extents[0],
      (unsigned long long)(rank > 1 ? extents[1] : 0));
  note(line);
  return 0;
}
int cuTensorMapReplaceAddress(void* map, void* address) {
  char line[128];
  snprintf(line, sizeof(line), "address %llu", (unsigned long long)(uintptr_t)address);
  note(line);
  return 0;
}

/* ---- Graphs: a chain each ---- */

enum { kMost = 64 };
struct Graph {
  int count;
  struct Kernel kernels[kMost];
};
struct Node {
  int index;
};
struct Description { /* CUDA_KERNEL_NODE_PARAMS_v2 */
  void* function;
  unsigned sizes[7];
  void** parameters;
  void** extra;
  void* kernel;
  void* context;
};

int cuGraphCreate(struct Graph** graph, unsigned flags) {
  *graph = calloc(1, sizeof(struct Graph));
  return getenv("FAKE_NO_GRAPHS") != NULL ? 801 : 0;
}
int cuGraphAddKernelNode_v2(
    struct Node** node, struct Graph* graph, struct Node* const* after, size_t num_after,
    const struct Description* description) {
  if (graph->count == kMost || num_after > 1 ||
      (num_after == 1 && after[0]->index != graph->count - 1)) {
    return 1;
  }
  *node = malloc(sizeof(struct Node));
  (*node)->index = graph->count;
  graph->kernels[graph->count++] = kernel_of(description->function, description->parameters);
  return 0;
}
int cuGraphAddDependencies_v2(
    struct Graph* graph, struct Node* const* from, struct Node* const* to, const uint8_t* edge,
    size_t count) {
  if (count != 1 || from[0]->index != to[0]->index - 1 || edge[0] != 1 || edge[2] != 1) {
    return 1;
  }
  note("early");
  return 0;
}
int cuGraphInstantiateWithFlags(struct Graph** executable, struct Graph* graph, unsigned long long flags) {
  *executable = malloc(sizeof(struct Graph));
  **executable = *graph;
  note("instantiate");
  return 0;
}
int cuGraphExecKernelNodeSetParams_v2(
    struct Graph* executable, struct Node* node, const struct Description* description) {
  if (getenv("FAKE_STUBBORN") != NULL) {
    return 910;
  }
  executable->kernels[node->index] = kernel_of(description->function, description->parameters);
  note("update");
  return 0;
}
int cuGraphLaunch(const struct Graph* executable, void* stream) {
  note("graph");
  for (int i = 0; i < executable->count; ++i) {
    note_kernel(&executable->kernels[i]);
  }
  return 0;
}
int cuGraphExecDestroy(struct Graph* executable) {
  free(executable);
  note("destroy");
  return 0;
}
int cuGraphDestroy(struct Graph* graph) {
  free(graph);
  return 0;
}

/* ---- The compiler: programs of one byte ---- */

DOES_NOTHING(nvrtcDestroyProgram)
DOES_NOTHING(nvrtcCompileProgram)

int nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 0;
  return 0;
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return 0;
}
int nvrtcGetSupportedArchs(int* architectures) {
  *architectures = 90;
  return 0;
}
int nvrtcCreateProgram(void** program) {
  *program = text;
  return 0;
}
int nvrtcGetProgramLogSize(void* program, size_t* size) {
  *size = 1;
  return 0;
}
int nvrtcGetProgramLog(void* program, char* log) {
  *log = 0;
  return 0;
}
int nvrtcGetCUBINSize(void* program, size_t* size) {
  *size = 1;
  return 0;
}
int nvrtcGetCUBIN(void* program, char* code) {
  *code = 'c';
  return 0;
}
int nvrtcGetPTXSize(void* program, size_t* size) {
  return nvrtcGetCUBINSize(program, size);
}
int nvrtcGetPTX(void* program, char* code) {
  return nvrtcGetCUBIN(program, code);
}
const char* nvrtcGetErrorString(int error) {
  return "an error";
}
