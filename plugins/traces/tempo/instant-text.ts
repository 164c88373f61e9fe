/** As far as dates go. */
const mostMs = 8.64e15;

/** An instant in milliseconds: seconds of up to ten digits, with a fraction or without, nanoseconds, or RFC 3339. */
export function instantMs(text: string): number | undefined {
  const ms = msOf(text);
  return ms === undefined || Number.isNaN(ms) || ms > mostMs ? undefined : ms;
}

function msOf(text: string): number | undefined {
  if (/^\d{1,10}(?:\.\d{1,9})?$/.test(text)) {
    return Math.round(Number(text) * 1e6) / 1e3;
  }
  if (/^\d{11,19}$/.test(text)) {
    return Number(BigInt(text) / 1_000n) / 1_000;
  }
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i.test(text) ? Date.parse(text) : undefined;
}
