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

// func weigh(dst, x, w *float64, n, stride, rows int)
//
// Products are rounded before they are added to, and rows come one after the other, as in plain code.
TEXT ·weigh(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+24(FP), CX
	MOVQ stride+32(FP), DX
	SHLQ $3, DX            // in bytes

many:                      // sixteen columns at once
	CMPQ CX, $16
	JLT few
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	VMOVUPD 96(DI), Y3
	MOVQ SI, R8
	MOVQ w+16(FP), R9
	MOVQ rows+40(FP), R10

row:
	VBROADCASTSD (R9), Y4
	VMULPD (R8), Y4, Y5
	VMULPD 32(R8), Y4, Y6
	VMULPD 64(R8), Y4, Y7
	VMULPD 96(R8), Y4, Y8
	VADDPD Y5, Y0, Y0
	VADDPD Y6, Y1, Y1
	VADDPD Y7, Y2, Y2
	VADDPD Y8, Y3, Y3
	ADDQ DX, R8
	ADDQ $8, R9
	DECQ R10
	JNZ row
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $16, CX
	JMP many

few:                       // eight
	CMPQ CX, $8
	JLT last
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	MOVQ SI, R8
	MOVQ w+16(FP), R9
	MOVQ rows+40(FP), R10

pair:
	VBROADCASTSD (R9), Y4
	VMULPD (R8), Y4, Y5
	VMULPD 32(R8), Y4, Y6
	VADDPD Y5, Y0, Y0
	VADDPD Y6, Y1, Y1
	ADDQ DX, R8
	ADDQ $8, R9
	DECQ R10
	JNZ pair
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $8, CX

last:                      // four, or none
	TESTQ CX, CX
	JZ done
	VMOVUPD (DI), Y0
	MOVQ w+16(FP), R9
	MOVQ rows+40(FP), R10

single:
	VBROADCASTSD (R9), Y4
	VMULPD (SI), Y4, Y5
	VADDPD Y5, Y0, Y0
	ADDQ DX, SI
	ADDQ $8, R9
	DECQ R10
	JNZ single
	VMOVUPD Y0, (DI)

done:
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

DATA greatest<>+0(SB)/8, $0x7fefffffffffffff
GLOBL greatest<>(SB), RODATA|NOPTR, $8

DATA one<>+0(SB)/8, $1.0
GLOBL one<>(SB), RODATA|NOPTR, $8

// func lengths(dst, x, y *float64, n int) bool
//
// Products are rounded before they are added to, as in plain code.
TEXT ·lengths(SB), NOSPLIT, $0-33
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSD magnitude<>(SB), Y0
	VBROADCASTSD greatest<>(SB), Y1
	VBROADCASTSD one<>(SB), Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4      // what is not finite

next:
	VANDPD (SI), Y0, Y5
	VANDPD (DX), Y0, Y6
	VMAXPD Y6, Y5, Y7      // the longer side
	VMINPD Y6, Y5, Y8
	VCMPPD $6, Y1, Y5, Y9  // not below or equal to the greatest number: infinity or NaN
	VCMPPD $6, Y1, Y6, Y10
	VORPD Y9, Y4, Y4
	VORPD Y10, Y4, Y4
	VCMPPD $4, Y3, Y7, Y9  // not 0
	VDIVPD Y7, Y8, Y8
	VMULPD Y8, Y8, Y8
	VADDPD Y2, Y8, Y8
	VSQRTPD Y8, Y8
	VMULPD Y7, Y8, Y8
	VANDPD Y9, Y8, Y8      // 0 of 0 and 0
	VMOVUPD Y8, (DI)
	ADDQ $32, SI
	ADDQ $32, DX
	ADDQ $32, DI
	SUBQ $4, CX
	JNZ next
	VPTEST Y4, Y4
	SETEQ ret+32(FP)
	VZEROUPPER
	RET

DATA arcs<>+0(SB)/8, $-8.750608600031904122785e-01
DATA arcs<>+8(SB)/8, $-1.615753718733365076637e+01
DATA arcs<>+16(SB)/8, $-7.500855792314704667340e+01
DATA arcs<>+24(SB)/8, $-1.228866684490136173410e+02
DATA arcs<>+32(SB)/8, $-6.485021904942025371773e+01
DATA arcs<>+40(SB)/8, $+2.485846490142306297962e+01
DATA arcs<>+48(SB)/8, $+1.650270098316988542046e+02
DATA arcs<>+56(SB)/8, $+4.328810604912902668951e+02
DATA arcs<>+64(SB)/8, $+4.853903996359136964868e+02
DATA arcs<>+72(SB)/8, $+1.945506571482613964425e+02
DATA arcs<>+80(SB)/8, $0.66
GLOBL arcs<>(SB), RODATA|NOPTR, $88

// func arcs(dst, y, x *float64, n int) bool
//
// The quotient of two fours of numbers and its arc tangent by the fraction that plain code has below 0.66. Products are
// rounded before they are added to, as in plain code.
TEXT ·arcs(SB), NOSPLIT, $0-33
	MOVQ dst+0(FP), DI
	MOVQ y+8(FP), SI
	MOVQ x+16(FP), DX
	MOVQ n+24(FP), CX
	VXORPD Y0, Y0, Y0
	VBROADCASTSD arcs<>+80(SB), Y1
	VPCMPEQD X2, X2, X2
	VINSERTF128 $1, X2, Y2, Y2 // signs: where the fraction holds
	VBROADCASTSD arcs<>+0(SB), Y6
	VBROADCASTSD arcs<>+8(SB), Y7
	VBROADCASTSD arcs<>+16(SB), Y8
	VBROADCASTSD arcs<>+24(SB), Y9
	VBROADCASTSD arcs<>+32(SB), Y10
	VBROADCASTSD arcs<>+40(SB), Y11
	VBROADCASTSD arcs<>+48(SB), Y12
	VBROADCASTSD arcs<>+56(SB), Y13
	VBROADCASTSD arcs<>+64(SB), Y14
	VBROADCASTSD arcs<>+72(SB), Y15

next:
	VMOVUPD (SI), Y3
	VMOVUPD (DX), Y4
	VANDNPD Y2, Y3, Y2     // no sign of y
	VCMPPD $14, Y0, Y4, Y5 // x above 0
	VANDPD Y5, Y2, Y2
	VDIVPD Y4, Y3, Y3      // q
	VCMPPD $2, Y1, Y3, Y5  // q at most 0.66
	VANDPD Y5, Y2, Y2
	VMULPD Y3, Y3, Y4      // z
	VMULPD Y4, Y6, Y5
	VADDPD Y7, Y5, Y5
	VMULPD Y4, Y5, Y5
	VADDPD Y8, Y5, Y5
	VMULPD Y4, Y5, Y5
	VADDPD Y9, Y5, Y5
	VMULPD Y4, Y5, Y5
	VADDPD Y10, Y5, Y5
	VMULPD Y4, Y5, Y5      // z·P
	VADDPD Y11, Y4, Y0
	VMULPD Y4, Y0, Y0
	VADDPD Y12, Y0, Y0
	VMULPD Y4, Y0, Y0
	VADDPD Y13, Y0, Y0
	VMULPD Y4, Y0, Y0
	VADDPD Y14, Y0, Y0
	VMULPD Y4, Y0, Y0
	VADDPD Y15, Y0, Y0     // Q
	VDIVPD Y0, Y5, Y5
	VMULPD Y3, Y5, Y5
	VADDPD Y3, Y5, Y5      // q + q·z·P/Q
	VMOVUPD Y5, (DI)
	VXORPD Y0, Y0, Y0
	ADDQ $32, SI
	ADDQ $32, DX
	ADDQ $32, DI
	SUBQ $4, CX
	JNZ next
	VMOVMSKPD Y2, AX
	CMPQ AX, $15
	SETEQ ret+32(FP)
	VZEROUPPER
	RET
