const everyMs = 10_000;

/** 0 … count-1, saying every ten seconds how far it has come: `for (const round of counted(100, 'kills'))`. */
export function* counted(count: number, noun: string): Generator<number> {
  const began = performance.now();
  let next = began + everyMs;
  for (let round = 0; round < count; round += 1) {
    const now = performance.now();
    if (now >= next) {
      next = now + everyMs;
      const leftS = Math.round((((now - began) / round) * (count - round)) / 1_000);
      process.stderr.write(`${round} of ${count} ${noun}, about ${leftS} s to go\n`);
    }
    yield round;
  }
}
