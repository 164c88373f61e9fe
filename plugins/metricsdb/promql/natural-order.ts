const chunks = /\d+|\D+/g;

/** With runs of digits compared as numbers: `cpu2` before `cpu10`. */
export function naturalOrder(a: string, b: string): number {
  const left = a.match(chunks) ?? [];
  const right = b.match(chunks) ?? [];
  const shared = Math.min(left.length, right.length);
  for (let i = 0; i < shared; i++) {
    const order = compareChunks(left[i]!, right[i]!);
    if (order !== 0) {
      return order;
    }
  }
  return left.length - right.length || (a < b ? -1 : a > b ? 1 : 0);
}

function compareChunks(a: string, b: string): number {
  if (isDigits(a) && isDigits(b)) {
    const left = a.replace(/^0+/, '');
    const right = b.replace(/^0+/, '');
    if (left !== right) {
      return left.length - right.length || (left < right ? -1 : 1);
    }
    return 0;
  }
  return a === b ? 0 : a < b ? -1 : 1;
}

const isDigits = (chunk: string): boolean => chunk >= '0' && chunk < ':';
