#include "textflag.h"

// func narrow(dst *float32, src *float64, n int)
TEXT ·narrow(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

next:
	VCVTPD2PSY (SI), X0
	VMOVUPS X0, (DI)
	ADDQ $32, SI
	ADDQ $16, DI
	SUBQ $4, CX
	JNZ next
	VZEROUPPER
	RET

// func widen(dst *float64, src *float32, n int)
TEXT ·widen(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

next:
	VCVTPS2PD (SI), Y0
	VMOVUPD Y0, (DI)
	ADDQ $16, SI
	ADDQ $32, DI
	SUBQ $4, CX
	JNZ next
	VZEROUPPER
	RET

DATA magnitude<>+0(SB)/8, $0x7fffffffffffffff
GLOBL magnitude<>(SB), RODATA|NOPTR, $8

// func rounded(dst *float32, src *float64, n int, m *Map) bool
//
// Products are rounded before they are added to, as in plain code.
TEXT ·rounded(SB), NOSPLIT, $0-33
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ m+24(FP), DX
	VBROADCASTSD 0(DX), Y0
	VBROADCASTSD 8(DX), Y1
	VBROADCASTSD 16(DX), Y2
	VBROADCASTSD 24(DX), Y3
	VBROADCASTSD magnitude<>(SB), Y4
	VXORPS X5, X5, X5

next:
	VMULPD (SI), Y0, Y6    // t = v*a
	VANDPD Y4, Y6, Y7
	VADDPD Y2, Y7, Y7
	VMULPD Y3, Y7, Y7      // e = (|t| + |b|)*slack
	VADDPD Y1, Y6, Y6      // r = t + b
	VSUBPD Y7, Y6, Y8      // r - e
	VADDPD Y7, Y6, Y9      // r + e
	VCVTPD2PSY Y8, X8
	VCVTPD2PSY Y9, X9
	VMOVUPS X8, (DI)
	VXORPS X8, X9, X9      // bits that differ
	VORPS X9, X5, X5
	VCMPPS $3, X8, X8, X8  // NaN
	VORPS X8, X5, X5
	ADDQ $32, SI
	ADDQ $16, DI
	SUBQ $4, CX
	JNZ next
	VPTEST X5, X5
	SETEQ ret+32(FP)
	VZEROUPPER
	RET

DATA counting<>+0(SB)/8, $0.0
DATA counting<>+8(SB)/8, $1.0
DATA counting<>+16(SB)/8, $2.0
DATA counting<>+24(SB)/8, $3.0
GLOBL counting<>(SB), RODATA|NOPTR, $32

DATA four<>+0(SB)/8, $4.0
GLOBL four<>(SB), RODATA|NOPTR, $8

// func bilinear(dst, s *float64, n, c int, l *Line)
//
// Products are rounded before they are added to, as in plain code.
TEXT ·bilinear(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ s+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ l+32(FP), DX
	VBROADCASTSD 0(DX), Y0
	VBROADCASTSD 8(DX), Y1
	VBROADCASTSD 16(DX), Y2
	VBROADCASTSD 24(DX), Y3
	MOVQ 32(DX), R8
	VMOVD R8, X6
	VPSHUFD $0, X6, X6     // the stride
	LEAQ (SI)(R8*8), R11   // one row on
	VXORPD X4, X4, X4
	VCVTSI2SDQ c+24(FP), X4, X4
	VMOVDDUP X4, X4
	VINSERTF128 $1, X4, Y4, Y4
	VADDPD counting<>(SB), Y4, Y4
	VBROADCASTSD four<>(SB), Y5

next:
	VMULPD Y4, Y1, Y7
	VMULPD Y4, Y3, Y8
	VADDPD Y7, Y0, Y7      // x
	VADDPD Y8, Y2, Y8      // y
	VADDPD Y5, Y4, Y4
	VCVTTPD2DQY Y7, X9
	VCVTTPD2DQY Y8, X10
	VCVTDQ2PD X9, Y11
	VCVTDQ2PD X10, Y12
	VSUBPD Y11, Y7, Y7     // fx
	VSUBPD Y12, Y8, Y8     // fy
	VPMULLD X6, X10, X10
	VPADDD X9, X10, X10    // the upper left sample of each
	VMOVD X10, AX
	VPEXTRD $1, X10, BX
	VPEXTRD $2, X10, R9
	VPEXTRD $3, X10, R10
	VMOVUPD (SI)(AX*8), X11
	VMOVUPD (SI)(BX*8), X12
	VINSERTF128 $1, (SI)(R9*8), Y11, Y11
	VINSERTF128 $1, (SI)(R10*8), Y12, Y12
	VUNPCKLPD Y12, Y11, Y13
	VUNPCKHPD Y12, Y11, Y14
	VMOVUPD (R11)(AX*8), X11
	VMOVUPD (R11)(BX*8), X12
	VINSERTF128 $1, (R11)(R9*8), Y11, Y11
	VINSERTF128 $1, (R11)(R10*8), Y12, Y12
	VUNPCKLPD Y12, Y11, Y15
	VUNPCKHPD Y12, Y11, Y9
	VSUBPD Y13, Y14, Y14
	VSUBPD Y15, Y9, Y9
	VMULPD Y14, Y7, Y14
	VMULPD Y9, Y7, Y9
	VADDPD Y14, Y13, Y13   // top
	VADDPD Y9, Y15, Y15    // bottom
	VSUBPD Y13, Y15, Y15
	VMULPD Y15, Y8, Y15
	VADDPD Y15, Y13, Y13
	VMOVUPD Y13, (DI)
	ADDQ $32, DI
	SUBQ $4, CX
	JNZ next
	VZEROUPPER
	RET
