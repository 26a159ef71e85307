// An allocator for the module, whose memory grows as needed: blocks of powers of two, kept in free lists by size.
typedef __SIZE_TYPE__ size_t;

enum { page = 65536, smallest = 4, classes = 28 };

// Precedes each block. Its size keeps blocks aligned to 16.
typedef union header {
    struct {
        union header *next;
        unsigned class;
    } of;
    unsigned char padding[16];
} header;

extern unsigned char __heap_base;
static header *free_blocks[classes];
static size_t unused, end;

static header *carve(size_t size) {
    if (end == 0) {
        unused = ((size_t)&__heap_base + 15) & ~(size_t)15;
        end = (size_t)__builtin_wasm_memory_size(0) * page;
    }
    if (end - unused < size) {
        size_t pages = (size - (end - unused) + page - 1) / page;
        if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1) return 0;
        end += pages * page;
    }
    header *block = (header *)unused;
    unused += size;
    return block;
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (alignment > 16) return 22;  // EINVAL: nothing in the module asks for it.
    unsigned class = smallest;
    while (class < classes && ((size_t)1 << class) < size) class++;
    if (class == classes) return 12;  // ENOMEM
    header *block = free_blocks[class];
    if (block) {
        free_blocks[class] = block->of.next;
    } else {
        block = carve(sizeof(header) + ((size_t)1 << class));
        if (!block) return 12;
        block->of.class = class;
    }
    *memory = block + 1;
    return 0;
}

void free(void *memory) {
    if (!memory) return;
    header *block = (header *)memory - 1;
    block->of.next = free_blocks[block->of.class];
    free_blocks[block->of.class] = block;
}

// The seed for hashing. It is constant, as only the page itself chooses the keys.
void arc4random_buf(void *memory, size_t size) {
    for (size_t index = 0; index < size; index++) ((unsigned char *)memory)[index] = 4;
}

double ceil(double number) { return __builtin_ceil(number); }
float ceilf(float number) { return __builtin_ceilf(number); }

// Single instructions in WebAssembly.
void *memset(void *to, int byte, size_t size) { return __builtin_memset(to, byte, size); }
void *memmove(void *to, const void *from, size_t size) { return __builtin_memmove(to, from, size); }
void *memcpy(void *to, const void *from, size_t size) { return __builtin_memcpy(to, from, size); }

// Functions that the compiler calls by itself: 128-bit multiplication by halves, and the stack guard.
__int128 __multi3(__int128 left, __int128 right) {
    typedef unsigned long long word;
    word a = (word)left, b = (word)right, mask = 0xffffffff;
    word low = (a & mask) * (b & mask), middle = (a >> 32) * (b & mask) + (low >> 32);
    word other = (a & mask) * (b >> 32) + (middle & mask);
    word high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
    high += a * (word)(right >> 64) + (word)(left >> 64) * b;
    return (__int128)(((unsigned __int128)high << 64) | (other << 32) | (low & mask));
}

size_t __stack_chk_guard = 0x4c756c6c;
void __stack_chk_fail(void) { __builtin_trap(); }

int memcmp(void const *left, void const *right, size_t size) {
    unsigned char const *one = left, *other = right;
    for (size_t index = 0; index < size; index++)
        if (one[index] != other[index]) return one[index] - other[index];
    return 0;
}

// Unicode's tables, of which text in ASCII needs none: there is no other text in the module.
unsigned short _swift_stdlib_getNormData(unsigned scalar) { return (void)scalar, 0; }
unsigned _swift_stdlib_getComposition(unsigned one, unsigned other) { return (void)one, (void)other, 0xffffffff; }
unsigned _swift_stdlib_getDecompositionEntry(unsigned scalar) { return (void)scalar, 0; }
unsigned char const _swift_stdlib_nfd_decompositions[1];
