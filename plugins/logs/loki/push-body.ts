import { JsonBytes, type Labels } from 'svc/query';

import type { Batch } from '../store/batch.ts';
import { nanosText } from '../store/nanos.ts';
import { writeLabels } from './answer.ts';

/** A batch as a push body of Loki's JSON shape. */
export function pushBody(batch: Batch): Uint8Array {
  const json = new JsonBytes(batch.used * 2 + 1_024).raw('{"streams":[');
  batch.parts.forEach(({ labels, from, to }, index) => {
    json.raw(index === 0 ? '{"stream":' : ',{"stream":');
    writeLabels(json, labels);
    json.raw(',"values":[');
    for (let i = from; i < to; i++) {
      json
        .raw(i === from ? '["' : ',["')
        .raw(nanosText({ ms: batch.ms[i]!, ns: batch.ns[i]! }))
        .raw('",')
        .string(batch.lineAt(i));
      const meta: Labels = batch.metas[batch.meta[i]!]!;
      if (meta.length > 0) {
        json.raw(',');
        writeLabels(json, meta);
      }
      json.raw(']');
    }
    json.raw(']}');
  });
  return json.raw(']}').finish();
}
