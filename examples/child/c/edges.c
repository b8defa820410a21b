/* edges: a model that is a program, in C99 without libraries. See docs/PROGRAMS.md.
 *
 *   cc -O2 -o edges edges.c
 *   nero inspect "exec:./edges"
 *
 * It reads pictures and returns how steep they are at each pixel: the length of the gradient by central differences,
 * which turns with the picture. With --forward it takes differences to the next pixel, which does not.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

static void die(const char *why) {
    fprintf(stderr, "edges: %s\n", why); /* standard output is for frames alone */
    exit(1);
}

static uint64_t get(const unsigned char *b, int n) { /* little-endian */
    uint64_t v = 0;
    while (n-- > 0) v = v << 8 | b[n];
    return v;
}

static void put(unsigned char *b, int n, uint64_t v) {
    for (int i = 0; i < n; i++, v >>= 8) b[i] = (unsigned char)v;
}

static void *memory(uint64_t n) {
    void *p = n < SIZE_MAX ? malloc((size_t)n + 1) : NULL; /* one more, for the end of the text */
    if (!p) die("out of memory");
    return p;
}

/* A frame: "NRL1", number of the call (4 bytes), length of the JSON (4), length of the tensors (8), JSON, tensors. */
static void answer(uint32_t call, const char *json, const float *tensors, uint64_t bytes) {
    unsigned char head[20] = "NRL1";
    size_t n = strlen(json);
    put(head + 4, 4, call);
    put(head + 8, 4, n);
    put(head + 12, 8, bytes);
    if (fwrite(head, 1, 20, stdout) != 20 || fwrite(json, 1, n, stdout) != n ||
        fwrite(tensors, 1, (size_t)bytes, stdout) != bytes || fflush(stdout)) /* flush, or nero waits for ever */
        die("nobody reads the answers");
}

/* Square root by Newton's method, so that nothing is needed beyond the language. */
static float root(float v) {
    if (!(v > 0)) return 0;
    float x = v > 1 ? v : 1;
    for (int i = 0; i < 64; i++) {
        float y = 0.5f * (x + v / x);
        if (y >= x) break;
        x = y;
    }
    return x;
}

static float at(const float *p, long h, long w, long r, long c) { /* the border is repeated */
    r = r < 0 ? 0 : r >= h ? h - 1 : r;
    c = c < 0 ? 0 : c >= w ? w - 1 : c;
    return p[r * w + c];
}

static void edges(const float *in, float *out, long h, long w, int forward) {
    for (long r = 0; r < h; r++)
        for (long c = 0; c < w; c++) {
            float dx = at(in, h, w, r, c + 1) - at(in, h, w, r, forward ? c : c - 1);
            float dy = at(in, h, w, r + 1, c) - at(in, h, w, forward ? r : r - 1, c);
            float xx = dx * dx, yy = dy * dy;
            out[r * w + c] = root(xx + yy);
        }
}

int main(int argc, char **argv) {
    int forward = argc > 1 && !strcmp(argv[1], "--forward");
    unsigned char head[20];
#ifdef _WIN32
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    while (fread(head, 1, 20, stdin) == 20) { /* nero closes the input when it needs us no more */
        if (memcmp(head, "NRL1", 4)) die("what came is no frame");
        uint32_t call = (uint32_t)get(head + 4, 4);
        uint64_t njson = get(head + 8, 4), bytes = get(head + 12, 8);
        char *json = memory(njson);
        float *in = memory(bytes);
        if (fread(json, 1, (size_t)njson, stdin) != njson || fread(in, 1, (size_t)bytes, stdin) != bytes)
            die("half a frame came");
        json[njson] = 0;
        /* nero writes the method first, without spaces, so that no parser is needed. */
        if (!strncmp(json, "{\"method\":\"hello\"", 17)) {
            answer(call, "{\"hello\":{\"protocol\":1,\"program\":\"edges 1.0\"}}", NULL, 0);
        } else if (!strncmp(json, "{\"method\":\"describe\"", 20)) {
            answer(call,
                   "{\"name\":\"edges\",\"platform\":\"c\","
                   "\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[-1,1,-1,-1]}],"
                   "\"outputs\":[{\"name\":\"edges\",\"datatype\":\"FP32\",\"shape\":[-1,1,-1,-1]}]}",
                   NULL, 0);
        } else if (!strncmp(json, "{\"method\":\"infer\"", 17)) {
            long n = 0, h = 0, w = 0;
            const char *shape = strstr(json, "\"shape\":["); /* of the first input, which is the only one */
            if (!shape || sscanf(shape, "\"shape\":[%ld,1,%ld,%ld]", &n, &h, &w) != 3 ||
                n < 0 || h < 0 || w < 0 || (uint64_t)n * (uint64_t)h * (uint64_t)w * sizeof(float) != bytes)
                die("the shape does not go with the bytes"); /* nero never sends such a frame */
            float *out = memory(bytes);
            for (long i = 0; i < n; i++) edges(in + i * h * w, out + i * h * w, h, w, forward);
            char text[256];
            snprintf(text, sizeof text,
                     "{\"outputs\":[{\"name\":\"edges\",\"datatype\":\"FP32\",\"shape\":[%ld,1,%ld,%ld],"
                     "\"parameters\":{\"binary_data_size\":%llu}}]}",
                     n, h, w, (unsigned long long)bytes);
            answer(call, text, out, bytes);
            free(out);
        } else {
            answer(call, "{\"error\":\"edges knows hello, describe and infer\"}", NULL, 0);
        }
        free(json);
        free(in);
    }
    return 0;
}
