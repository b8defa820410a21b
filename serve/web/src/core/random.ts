/** Random numbers that are the same every time, for tests and benchmarks. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** An integer in [0, 2³²): mulberry32, by Tommy Ettinger, in the public domain. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }

  /** A number in [0, 1). */
  float(): number {
    return this.next() / 2 ** 32;
  }

  /** An integer in [0, n). */
  int(n: number): number {
    return Math.floor(this.float() * n);
  }

  /** True with probability p. */
  chance(p: number): boolean {
    return this.float() < p;
  }

  /** One of the items. */
  pick<T>(items: readonly T[]): T {
    return items[this.int(items.length)] as T;
  }

  /** A number from the standard normal distribution (Box and Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.float())) * Math.cos(2 * Math.PI * this.float());
  }

  /** A text of up to n characters, odd ones among them, without unpaired surrogates. */
  text(n: number): string {
    let s = '';
    for (let k = this.int(n + 1); k > 0; k--) s += this.pick([...'abcXYZ019 _-.,;:/?&=#%+"\'\\<>()[]{}|°é中', '\u0000', '\n', '\u202e', '😀']);
    return s;
  }
}
