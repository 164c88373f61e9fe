export interface Mount {
  readonly device: string;
  readonly mountpoint: string;
  readonly fstype: string;
  readonly readonly: boolean;
}

const mostMounts = 10_000;

/** Of several mounts on one point the last hides the others, and is the only one that can be measured. */
export function parseMounts(text: string): readonly Mount[] {
  const visible = new Map<string, Mount>();
  for (const line of text.split('\n')) {
    const [device, mountpoint, fstype, options] = line.split(' ');
    if (options === undefined || visible.size >= mostMounts) {
      continue;
    }
    const point = plain(mountpoint!);
    visible.delete(point);
    visible.set(point, { device: plain(device!), mountpoint: point, fstype: plain(fstype!), readonly: options.split(',').includes('ro') });
  }
  return [...visible.values()];
}

/** The kernel writes blanks, line ends, backslashes and `#` as three octal digits of a byte; the bytes are UTF-8. */
const plain = (field: string): string =>
  field.includes('\\')
    ? field.replaceAll(/(?:\\[0-7]{3})+/g, (bytes) =>
        Buffer.from(
          bytes
            .slice(1)
            .split('\\')
            .map((octal) => Number.parseInt(octal, 8) & 0xff),
        ).toString('utf8'),
      )
    : field;
