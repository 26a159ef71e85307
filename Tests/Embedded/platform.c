// All that a bare-metal target owes to the core: memory, a seed for hashing, and what the compiler calls by itself.
// The link fails if the core ever wants more. Good for one short run: memory is taken from an arena and not given back.
typedef __SIZE_TYPE__ size_t;

static unsigned char arena[1 << 20];
static size_t used;

int posix_memalign(void **memory, size_t alignment, size_t size) {
    size_t start = (used + alignment - 1) & ~(alignment - 1);
    if (start + size > sizeof arena) return 12;  // ENOMEM
    used = start + size;
    *memory = arena + start;
    return 0;
}

void free(void *memory) { (void)memory; }

void arc4random_buf(void *memory, size_t size) {
    for (size_t index = 0; index < size; index++) ((unsigned char *)memory)[index] = 4;
}

// Volatile, lest the compiler turn these loops into calls of the functions they are in.
void *memset(void *to, int byte, size_t size) {
    for (size_t index = 0; index < size; index++) ((volatile unsigned char *)to)[index] = (unsigned char)byte;
    return to;
}

void *memmove(void *to, const void *from, size_t size) {
    volatile unsigned char *target = to;
    const unsigned char *source = from;
    if ((size_t)to <= (size_t)from) {
        for (size_t index = 0; index < size; index++) target[index] = source[index];
    } else {
        while (size-- > 0) target[size] = source[size];
    }
    return to;
}

void *memcpy(void *to, const void *from, size_t size) { return memmove(to, from, size); }

size_t __stack_chk_guard = 0x4c756c6c;
void __stack_chk_fail(void) { __builtin_trap(); }

// 128-bit multiplication, which checks for overflow are compiled to.
__int128 __multi3(__int128 left, __int128 right) {
    unsigned __int128 product = 0, shifted = (unsigned __int128)left, rest = (unsigned __int128)right;
    for (; rest != 0; rest >>= 1, shifted <<= 1) {
        if (rest & 1) product += shifted;
    }
    return (__int128)product;
}
