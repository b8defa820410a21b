/**
 * Color tables: 256 times red, green and blue, one byte each, as base64. lut.LICENSE.txt says where they come from; color.test.ts
 * compares them with d3-scale-chromatic.
 */

/** viridis of Matplotlib, by Stéfan van der Walt, Nathaniel Smith and Eric Firing: sequential. */
export const viridis =
  'RAFURAJWRQRXRQVZRgdaRghcRgpdRgteRw1gRw5hRxBjRxFkRxNlSBRnSBZoSBdpSBhqSBpsSBttSBxuSB1vSB9wSCBxSCFzSCN0SCR1SCV2SCZ3SCh4SCl5Ryp6Ryx6' +
  'Ry17Ry58Ry99RjB+RjJ+RjN/RjSARTWBRTeBRTiCRDmDRDqDRDuEQz2EQz6FQj+FQkCGQkGGQUKHQUSHQEWIQEaIP0eIP0iJPkmJPkqJPkyKPU2KPU6KPE+KPFCLO1GL' +
  'O1KLOlOLOlSMOVWMOVaMOFiMOFmMN1qMN1uNNlyNNl2NNV6NNV+NNGCNNGGNM2KNM2ONMmSOMmWOMWaOMWeOMWiOMGmOMGqOL2uOL2yOLm2OLm6OLm+OLXCOLXGOLHGO' +
  'LHKOLHOOK3SOK3WOKnaOKneOKniOKXmOKXqOKXuOKHyOKH2OJ36OJ3+OJ4COJoGOJoKOJoKOJYOOJYSOJYWOJIaOJIeOI4iOI4mOI4qNIouNIoyNIo2NIY6NIY+NIZCN' +
  'IZGMIJKMIJKMIJOMH5SMH5WLH5aLH5eLH5iLH5mKH5qKHpuKHpyJHp2JH56JH5+IH6CIH6GIH6GHH6KHIKOGIKSGIaWFIaaFIqeFIqiEI6mDJKqDJauCJayCJq2BJ62B' +
  'KK6AKa9/KrB/LLF+LbJ9LrN8L7R8MbV7MrZ6NLZ5Nbd5N7h4OLl3Orp2O7t1Pbx0P7xzQL1yQr5xRL9wRsBvSMFuSsFtTMJsTsNrUMRqUsVpVMVoVsZnWMdlWshkXMhj' +
  'XsliYMpgY8tfZcteZ8xcac1bbM1abs5YcM9Xc9BWddBUd9FTetFRfNJQf9NOgdNNhNRLhtVJidVIi9ZGjtZFkNdDk9dBldhAmNg+m9k8ndk7oNo5oto3pds2qNs0qtwy' +
  'rdwwsN0vst0ttd4ruN4put4ovd8mwN8lwt8jxeAhyOAgyuEfzeEd0OEc0uIb1eIa2OIZ2uMZ3eMY3+MY4uQY5eQZ5+QZ6uUa7OUb7+Uc8eUd9OYe9uYg+OYh++cj/ecl';

/** cividis of Matplotlib, by Nuñez, Anderton and Renslow (PLOS ONE 13, 2018): sequential, the same with and without color blindness. */
export const cividis =
  'ACJOACNPACRRACVTACVUACZWACdYAChZAChbACldACpfACphACtiACxkACxmAC1oAC5qAC5sAC9tADBvADBwADFwADFxATJxBTNxCDNwDDRwDzVwEjVwFDZwFjdwGDdv' +
  'GjhvHDlvHjpvIDpvITtuIzxuJDxuJj1uJz5uKT9uKj9tK0BtLUFtLkFtL0JtMUNtMkNtM0RtNEVsNUVsNkZsOEdsOUhsOkhsO0lsPEpsPUpsPktsP0xsQExsQU1sQk5s' +
  'Q05sRE9sRVBsRlFsR1FsSFJsSVNsSlNsS1RsTFVsTVVsTlZsT1dsUFdsUVhtUlltU1ptVFptVVttVVxtVlxtV11tWF5tWV5uWl9uW2BuXGFuXWFuXmJuXmNvX2NvYGRv' +
  'YWVvYmVvY2ZwZGdwZWhwZWhwZmlwZ2pxaGpxaWtxamxxa21ybG1ybG5ybW9ybm9zb3BzcHFzcXJ0cnJ0cnN0c3R1dHR1dXV1dnZ2d3d2d3d3eHh3eXl3enp4e3p4fHt4' +
  'fXx4fnx4fn14f354gH94gX94goB5g4F5hIJ5hYJ5hoN5h4R4iIV4iYV4ioZ4i4d4jIh4jYh4jol4j4p4kIt4kYt4kox4ko14k454lI53lY93lpB3l5F3mJJ3mZJ3mpN2' +
  'm5R2nJV2nZV2npZ2n5d1oJh1oZl1opl1o5p0pJt0pZx0ppx0p51zqJ5zqZ9zqqBzq6ByrKFyraJyrqNxr6RxsKVxsaVws6ZwtKdvtahvtqlvt6luuKpuuattuqxtu61t' +
  'vK5sva5svq9rv7BrwLFqwbJqwrNpw7NpxLRoxbVoxrZnx7dnyLhmyblly7llzLpkzbtjzrxjz71i0L5i0b9h0sBg08Bf1MFf1cJe1sNd18Rc2cVc2sZb28da3MhZ3chY' +
  '3slY38pX4MtW4cxV4s1U5M5T5c9S5tBR59FQ6NJP6dNO6tNM69RL7dVK7tZJ79dI8NhG8dlF8tpE89tC9dxB9t0/994++N88+eA6++E4/OI2/eM0/uQ0/uU1/uY2/ug4';

/** PuOr of ColorBrewer, by Cynthia Brewer, interpolated by d3-scale-chromatic: diverging, purple to orange. */
export const puor =
  'LQBLLwJNMANQMgVSMwZVNQhXNglZOAtcOQxeOw5gPBBjPhFlPxNnQRVqQxZsRBhuRhpwRxxySR51SiB3TCJ5TiR7TyZ9USh/UiqBVCyDVi6FVzGHWTOIWzWKXDiMXjqO' +
  'YD2PYT+RY0KTZUWUZkeWaEqYak2ZbE+bbVKcb1WecVifc1qhdF2idmCkeGKlemWnfGiofWqpf22rgXCsg3KuhXWvh3exiHqyiny0jH+1joG3kIO4koa5lIi7loq8l42+' +
  'mY+/m5HBnZPCn5bDoZjFo5rGpJzHpp7JqKDKqqLLrKTNrabOr6jPsavQs63StK/TtrDUuLLVubTWu7bXvLjZvrrawLzbwb7cw8DdxMHexsPfx8XgycfhysnhzMrizczj' +
  'z87k0M/l0dHm09Ln1NTn1dXo19fp2Njq2trq29vr3N3s3d7s39/t4OHt4eLu4uPu5OTu5eXv5ubv5+fv6Ojv6env6urv6+vv7Ovv7ezv7u3u7+3u8O3t8e7s8u7s8+7r' +
  '8+7q9O7o9e7n9e7m9u7k9+7j9+7h+O3f+O3d+ezb+ezZ+evX+urV+unT+unQ++jO++fM++bJ++XG/OTE/OPB/OK+/OG8/OC5/d62/d2z/dyw/dut/dmq/din/dek/dWh' +
  '/dSe/dKb/dGY/dCV/c6S/c2P/cuL/cmI/MiF/MaC/MV//MN8+8F4+791+75y+rxv+rps+bho+bdl+LVi97Nf97Fc9q9Z9a1V9KtS9KlP86dM8qVJ8aNG8KFD759A7p0+' +
  '7Zs77Jk46pc16ZUz6JQw55Iu5pAr5I4p44wn4ool4Igj34Yh3YQf3IId2oAb2X4a130Y1nsX1HkW03cU0XYTz3QSznIRzHAQym8PyW0Ox2sOxWoNw2gMwmcMwGULvmQL' +
  'vGIKumEKuF8Kt14JtVwJs1sJsVkJr1gIrVcIq1UIqVQIp1MIpVIIo1AIoU8Hn04HnUwHm0sHmUoHl0kHlUgHk0cHkUUHj0QHjUMIi0IIiUEIh0AIhT4Igz0IgTwIfzsI';

/** twilight of Matplotlib, by Bastian Bechtold, its 510 colors sampled at 256 of a turn: cyclic, the color after the last is the first. */
export const twilight =
  '4tni4dni4Nni3tnh3dng3Nnf2tjf2Nje1tfd1Nbc0tXb0NTazdPYy9LXyNHWxc/Vws7UwM3TvcvSusrQt8jPtMfOsMXNrcPNqsLMp8DLpL/Kor3Jn7vJnLnImbjIlrbH' +
  'lLTHkbPGj7HGjK/Fiq3Fh6vEhanEg6jEgabDfqTDfKLDeqDCeZ7Cd5zCdZrBc5jBcpbBcJTAb5LAbZDAbI6/a4y/aoq/aYi+aIa+Z4S+ZoK9ZYC9ZH68ZHy8Y3m7Yne7' +
  'YnW6YXO6YXG5YW64YGy4YGq3YGi2YGW2X2O1X2G0X16zX1yyX1qxX1ewX1WvXlOuXlCsXk6rXkuqXkmoXkenXkSlXUKkXT+iXT2gXTqeXDidXDaaXDOYWzGWWy+UWiyR' +
  'WSqPWSiMWCaJVySHViKEVSCBVB59Ux16URt3UBpzTxhwTRdtSxZpShVmSBViRhRfRRNcQxNZQRJVQBJSPhFPPBFNOxFKORFHOBFFNxFDNhFBNBE/MxE9MhI7MRI6MBM4' +
  'LxQ2MRM3MhI3MxI3NBI4NhE4NxE5ORE6OhE6PBE7PhE8QBI9QhI+RBI/RxJASRNBSxNCThRDUBREUxVFVRVGWBZHWhZIXRdJYBhKYhhLZRlMaBpMahpNbRtOcBxOch1P' +
  'dR5Pdx9PeiBQfCFQfyJQgSRQgyVQhiZQiChQiilQjStQjy1QkS5QkzBQlTJQlzRQmTVQmzdQnDlQnjtQoD1Qoj9Qo0FQpUNQp0VQqEdQqkpQq0xQrU5RrlBRsFJRsVVS' +
  'sldStFlTtVtTtl5Ut2BVuGJVumVWu2dXvGlYvWxZvm5avnFcv3NdwHVewXhgwnphw31jw39lxIJmxYRoxYdqxoltx4tvx45xyJBzyJN2yZV4yZh7ypp+yp2By5+DzKGG' +
  'zKSJzaaMzaiQzquTz62Wz6+Z0LKd0bSg0raj0rin07uq1L2u1b+x1sG118O42MW72ce/2cnC2svF28zI3M7L3dDO3dHR3tPT39TW39XY4Nba4Nfb4djd4djf4tng4tnh';
