import type { ProtoReader } from 'svc/store';

import type { Range, Reading } from './reading.ts';

export const longestDuration = Number.MAX_SAFE_INTEGER;

/** Reads events and links, in a second look at the span. Whether all of them could be kept. */
export function decodeParts(
  reading: Reading,
  span: Range,
  startMs: number,
  startNs: number,
): boolean {
  const reader = reading.reader(span);
  let events = 0;
  let links = 0;
  let whole = true;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 11 && events < reading.limits.events) {
      events++;
      whole = decodeEvent(reading, reader, startMs, startNs) && whole;
    } else if (field === 13 && links < reading.limits.links) {
      links++;
      whole = decodeLink(reading, reader) && whole;
    } else {
      whole = whole && field !== 11 && field !== 13;
      reader.skip();
    }
  }
  return whole;
}

function decodeEvent(
  reading: Reading,
  outer: ProtoReader,
  startMs: number,
  startNs: number,
): boolean {
  const { eventNames, eventTimes, eventPairs, eventPairStarts } = reading.head.columns;
  const reader = reading.reader(reading.block(outer));
  const firstPair = eventPairs.length;
  let name = 0;
  let time = 0;
  let whole = true;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    switch (field) {
      case 1:
        reader.nanos();
        time = (reader.ms - startMs) * 1e6 + (reader.ns - startNs);
        break;
      case 2:
        name = reading.text(reader);
        break;
      case 3:
        whole = reading.pair(reader, 'event', eventPairs, firstPair) && whole;
        break;
      default:
        reader.skip();
    }
  }
  eventNames.push(name);
  eventTimes.push(Math.max(-longestDuration, Math.min(longestDuration, time)));
  eventPairStarts.push(eventPairs.length);
  return whole;
}

function decodeLink(reading: Reading, outer: ProtoReader): boolean {
  const { linkTraceIds, linkSpanIds, linkStates, linkPairs, linkPairStarts } = reading.head.columns;
  const reader = reading.reader(reading.block(outer));
  const firstPair = linkPairs.length;
  let traceAt = -1;
  let spanAt = -1;
  let state = 0;
  let whole = true;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    switch (field) {
      case 1:
        traceAt = reading.id(reader, 16);
        break;
      case 2:
        spanAt = reading.id(reader, 8);
        break;
      case 3:
        state = reading.text(reader);
        break;
      case 4:
        whole = reading.pair(reader, 'link', linkPairs, firstPair) && whole;
        break;
      default:
        reader.skip();
    }
  }
  if (traceAt < 0 || spanAt < 0) {
    linkPairs.length = firstPair;
    return false;
  }
  linkTraceIds.pushBytes(reading.body, traceAt, 16);
  linkSpanIds.pushBytes(reading.body, spanAt, 8);
  linkStates.push(state);
  linkPairStarts.push(linkPairs.length);
  return whole;
}
