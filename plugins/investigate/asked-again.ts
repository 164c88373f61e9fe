import type { Answer, EvidenceSource } from 'svc/contracts/investigate';
import type { Evidence } from 'svc/rca';
import { timestamp } from 'svc/sdk';
import { type Static, Type } from 'typebox';

import { digestOf, settledOf } from './fetch/gatherer.ts';
import { amounts, shareOf } from './report/left-out.ts';

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const AgainItem = Type.Object({
  id: Type.String(),
  same: Type.Boolean({ description: 'Whether the whole result is the same' }),
  settled_same: orNull(
    Type.Boolean({
      description:
        'Whether the result is the same for the part of the window for which all data had already arrived; null if that is the whole window',
    }),
  ),
  difference: orNull(
    Type.Enum(['late_data', 'gone', 'changed'], {
      description:
        'late_data: more data arrived after the query; gone: some of the data is no longer stored; changed: the values are different',
    }),
  ),
  text: orNull(Type.String({ description: 'The difference and its size' })),
  stored_sha256: Type.String(),
  sha256: orNull(Type.String()),
  digest: Type.Record(Type.String(), Type.Unknown()),
  error: orNull(Type.String()),
});

/** Compares a source's current answer with the earlier one: the same, or how it has changed. */
export function compared(
  evidence: Evidence,
  { value, digest, truncated = false }: Answer,
  sources: ReadonlyMap<string, EvidenceSource>,
): Static<typeof AgainItem> {
  const { id, sha256: stored, settled, digest: then, ...question } = evidence;
  const sha256 = digestOf(value);
  const again = settled && settledOf(sources, question, value, settled.to);
  const settledSame = settled === undefined ? null : again?.sha256 === settled.sha256;
  const found = {
    id,
    same: sha256 === stored,
    settled_same: settledSame,
    stored_sha256: stored,
    sha256,
    digest: { ...digest },
    error: null,
  };
  if (found.same) {
    return { ...found, difference: null, text: null };
  }
  const amount = amounts.find(
    (name) => typeof then[name] === 'number' && typeof digest[name] === 'number',
  );
  const [had, has] = amount === undefined ? [0, 0] : [Number(then[amount]), Number(digest[amount])];
  const [share, was] = [shareOf({ ...evidence, digest, truncated }), shareOf(evidence)];
  if (share !== undefined && was !== undefined && had === has && settledSame !== true) {
    // As many are read as are read at most: of them alone it cannot be told whether there are more now.
    return {
      ...found,
      difference: 'changed',
      text: `other data: ${share} were read then and now, and they are not the same`,
    };
  }
  const figures =
    amount === undefined ? '' : `: ${has} ${amount} in the window now, ${had} when it was asked`;
  const older = settledSame === true ? `; up to ${timestamp(settled!.to)} it is the same` : '';
  return settledSame === true || has > had
    ? { ...found, difference: 'late_data', text: `late data${figures}${older}` }
    : has < had
      ? { ...found, difference: 'gone', text: `data is gone${figures}` }
      : { ...found, difference: 'changed', text: `other values${figures}` };
}
