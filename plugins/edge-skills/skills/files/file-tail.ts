import type { EdgeSkill } from 'svc/contracts/edge-skills';

import type { AllowedPaths } from '../../reach/allowed-paths.ts';
import { plainText } from '../fit-rows.ts';

interface Params {
  readonly path: string;
  readonly lines: number;
  readonly max_bytes: number;
  readonly before?: number;
}

const newline = 10;

export const fileTail = (paths: AllowedPaths): EdgeSkill => ({
  key: 'file_tail',
  name: 'End of a file',
  description:
    'The last lines of a regular file, or the lines before a given position in the file.',
  class: 'safe',
  tier: 'core',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['path'],
    properties: {
      path: { type: 'string', minLength: 1, maxLength: 4096 },
      lines: { type: 'integer', minimum: 1, maximum: 5000, default: 100 },
      max_bytes: { type: 'integer', minimum: 1, maximum: 131072, default: 65536 },
      before: {
        type: 'integer',
        minimum: 0,
        description: 'Byte position to read up to; default: the end of the file.',
      },
    },
  },
  run: ({ path: asked, lines, max_bytes: most, before }: Params) =>
    paths.withFile(asked, async (file, { path, stats }) => {
      const size = Number(stats.size);
      const end = Math.min(before ?? size, size);
      const from = Math.max(0, end - most);
      const bytes = await paths.patiently(asked, async () => {
        const { buffer, bytesRead } = await file.read(
          Buffer.alloc(end - from),
          0,
          end - from,
          from,
        );
        return buffer.subarray(0, bytesRead);
      });
      const begin = beginOf(bytes, lines, from === 0);
      const readOn =
        from + begin > 0
          ? { hint: 'There is more text before these lines.', params: { before: from + begin } }
          : undefined;
      const text = plainText(bytes.subarray(begin).toString('utf8'));
      return {
        result: { path, size_bytes: size, from: from + begin, to: from + bytes.length, text },
        readOn,
      };
    }),
});

/**
 * Returns where the last lines begin. A truncated first line is left for the next call, unless it
 * is all there is.
 */
function beginOf(bytes: Buffer, lines: number, whole: boolean): number {
  // The newline after the last line begins no other.
  let at = bytes.at(-1) === newline ? bytes.length - 1 : bytes.length;
  let begin = bytes.length;
  for (let count = 0; count < lines; count++) {
    const end = at === 0 ? -1 : bytes.lastIndexOf(newline, at - 1);
    if (end === -1) {
      return whole || count === 0 ? 0 : begin;
    }
    begin = end + 1;
    at = end;
  }
  return begin;
}
