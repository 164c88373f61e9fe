import type { ToolCall } from 'svc/contracts/skill';
import { isSvcError } from 'svc/sdk';
import { Type } from 'typebox';

import { errors } from './errors.ts';
import { lineDiff, maxEdits } from './line-diff.ts';

/** Runs a safe tool for the one who called this one, with the same checks as a call of their own. */
export type Look = (call: ToolCall) => Promise<unknown>;

export interface FileDiffParts {
  readonly look: Look;
  /** Returns a text without its secrets. */
  readonly guard: (text: string) => string;
}

/** Tool of hosts that reads the end of a file, and what it takes at once. */
const reader = { key: 'file_tail', lines: 5_000, maxBytes: 131_072 } as const;
const maxFileBytes = 512 * 1024;
const maxDevices = 8;
/** Character that hosts put in the place of one that is not printable. */
const unprintable = '\u{fffd}';

export const FileDiff = Type.Object({
  device_ids: Type.Array(Type.Integer({ minimum: 1 }), {
    minItems: 1,
    maxItems: maxDevices,
    uniqueItems: true,
    description:
      'Ids of the devices. The file of the first one is compared with that of each of the others.',
  }),
  path: Type.String({ minLength: 1, maxLength: 4_096, description: 'Absolute path of the file.' }),
  other_path: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4_096,
      description:
        'Path on the other devices, if it is not the same there; with one device, the second file on it.',
    }),
  ),
});

interface Place {
  readonly device_id: number;
  readonly path: string;
}

interface Piece {
  readonly size_bytes: number;
  readonly from: number;
  readonly text: string;
}

/** Compares a file of one host with that of others, or two files of one host. */
export async function fileDiff(
  call: ToolCall,
  parts: FileDiffParts,
  params: {
    readonly device_ids: readonly number[];
    readonly path: string;
    readonly other_path?: string;
  },
): Promise<object> {
  const { device_ids: ids, path, other_path: otherPath = path } = params;
  const [first, ...rest] = ids as readonly [number, ...number[]];
  if (rest.length === 0 && otherPath === path) {
    throw errors.nothing_to_compare();
  }
  const reference: Place = { device_id: first, path };
  const others = (rest.length === 0 ? [first] : rest).map((id) => ({
    device_id: id,
    path: otherPath,
  }));
  const text = await textOf(call, parts.look, reference);
  return {
    reference,
    compared: await Promise.all(
      others.map(async (place) => ({
        ...place,
        ...(await comparedWith(text, place, call, parts)),
      })),
    ),
  };
}

/** Compares one file; that it cannot be read is part of the answer, as the others can be. */
async function comparedWith(
  text: string,
  place: Place,
  call: ToolCall,
  { look, guard }: FileDiffParts,
): Promise<object> {
  let other: string;
  try {
    other = await textOf(call, look, place);
  } catch (error) {
    if (!isSvcError(error)) {
      throw error;
    }
    return { same: null, error: error.message };
  }
  const unseen = text.includes(unprintable) || other.includes(unprintable);
  const notes = unseen ? ['Characters that are not printable were not compared.'] : [];
  if (text === other) {
    return { same: true, ...(unseen && { notes }) };
  }
  // Secrets are hidden before lines are compared: a diff would tear apart those of several lines.
  const [shown, shownOther] = [guard(text), guard(other)];
  const hides = shown !== text || shownOther !== other;
  if (shown === shownOther) {
    return { same: false, notes: [...notes, 'They differ only in secrets, which are hidden.'] };
  }
  const diff = lineDiff(shown, shownOther);
  return {
    same: false,
    ...(diff === undefined
      ? { more_than: maxEdits }
      : { added: diff.added, removed: diff.removed, diff: diff.text }),
    notes: [
      ...notes,
      ...(hides ? ['Secrets are hidden: whether they differ is not shown.'] : []),
      ...(diff === undefined ? [`More than ${maxEdits} lines differ, so none are listed.`] : []),
    ],
  };
}

/** Returns a whole file, read from its end to its beginning. */
async function textOf(call: ToolCall, look: Look, place: Place): Promise<string> {
  const { device_id: id, path } = place;
  const parts: string[] = [];
  let size: number | undefined;
  for (let before: number | undefined; before !== 0;) {
    const piece = pieceOf(
      await look({
        ...call,
        key: reader.key,
        device_id: id,
        edge_id: undefined,
        approval: undefined,
        idempotencyKey: undefined,
        params: {
          path,
          lines: reader.lines,
          max_bytes: reader.maxBytes,
          ...(before !== undefined && { before }),
        },
      }),
    );
    if (piece.size_bytes > maxFileBytes) {
      throw errors.file_large({ path, maxBytes: maxFileBytes });
    }
    if ((size !== undefined && size !== piece.size_bytes) || piece.from >= (before ?? Infinity)) {
      throw errors.file_changed({ path });
    }
    size = piece.size_bytes;
    before = piece.from;
    parts.push(piece.text);
  }
  return parts.reverse().join('');
}

/** Takes a piece of a file from an answer of a host, which may be of another version. */
function pieceOf(answer: unknown): Piece {
  const found =
    typeof answer === 'object' && answer !== null && 'result' in answer ? answer.result : answer;
  const { size_bytes: size, from, text } = (found ?? {}) as Partial<Piece>;
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(from) || typeof text !== 'string') {
    throw errors.no_piece({ key: reader.key });
  }
  return { size_bytes: size!, from: from!, text };
}
