const form = /^(\d[\d,]*\.?\d*|\.\d+)\s{0,8}([a-zA-Z]{0,3})$/;
const units: ReadonlyMap<string, number> = new Map(
  ['', 'k', 'm', 'g', 't', 'p', 'e'].flatMap((prefix, power): [string, number][] =>
    prefix === ''
      ? [
          ['', 1],
          ['b', 1],
        ]
      : [
          [prefix, 1000 ** power],
          [`${prefix}b`, 1000 ** power],
          [`${prefix}i`, 1024 ** power],
          [`${prefix}ib`, 1024 ** power],
        ],
  ),
);

/** Returns the complaint of Go's size parser about an invalid text. */
export function byteSizeComplaint(text: string): string {
  const number = /^[\d.,]*/.exec(text)![0];
  return Number.isNaN(Number(number.replaceAll(',', '') || 'none'))
    ? `strconv.ParseFloat: parsing ${JSON.stringify(number)}: invalid syntax`
    : `unhandled size name: ${text.slice(number.length).trim().toLowerCase()}`;
}

/** `10KB`, `1.5 MiB`, `42`: in bytes; undefined when the text is no size. */
export function parseByteSize(text: string): number | undefined {
  const parts = text.length > 64 ? null : form.exec(text.trim());
  const unit = parts === null ? undefined : units.get(parts[2]!.toLowerCase());
  return unit === undefined ? undefined : Math.trunc(Number(parts![1]!.replaceAll(',', '')) * unit);
}
