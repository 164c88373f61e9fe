import { queryError } from 'svc/query';
import { transferred } from 'svc/thread';

import { answerProto, noTrace, traceJson, tracesProto } from './store/trace-json.ts';
import { matchersOf } from './store-queries.ts';
import type { TraceInput } from './thread-contract.ts';
import { sightOf } from './traceql/engine.ts';
import type { TraceSpans } from './traceql/span.ts';

/** A trace id as people type it: hexadecimal, zeros at its front may be left out. */
export function traceIdOf(text: string): Uint8Array {
  const wrong = text.search(/[^0-9a-fA-F]/);
  if (wrong >= 0) {
    throw queryError(
      'bad_data',
      `trace IDs can only contain hex characters: invalid character '${String.fromCodePoint(text.codePointAt(wrong)!)}' at position ${wrong + 1}`,
    );
  }
  if (text.length > 32) {
    throw queryError('bad_data', "trace IDs can't be larger than 128 bits");
  }
  if (text === '') {
    throw queryError('bad_data', 'a trace ID is needed');
  }
  return Uint8Array.from(Buffer.from(text.padStart(32, '0'), 'hex'));
}

/** What the asker may see of a trace, in the form that was asked for. */
export function renderTrace(trace: TraceSpans | undefined, { form, ...asked }: TraceInput): Uint8Array | undefined {
  const visible = trace === undefined ? undefined : sightOf(matchersOf(asked)).visible(trace);
  switch (form) {
    case 'v1':
      return visible && moved(traceJson(visible, form));
    case 'v2':
      return moved(visible === undefined ? Uint8Array.from(Buffer.from(noTrace)) : traceJson(visible, form));
    case 'proto':
      return visible && moved(tracesProto([visible]));
    case 'proto2':
      return moved(visible === undefined ? new Uint8Array() : answerProto(tracesProto([visible])));
  }
}

/** Bytes that were made for the answer alone move to the caller. */
export const moved = (bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => transferred(bytes, [bytes]);
