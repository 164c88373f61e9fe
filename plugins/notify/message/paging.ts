import type {
  ChannelMessage,
  MessageEntry,
  MessagePage,
  NoticeInstance,
} from 'svc/contracts/notify';

/** Size from which a request takes nothing more; an entry is never cut. */
const fullBytes = 200 * 1024;
/** Number of instances above which an incident continues in a further entry. */
const maxInstances = 200;

/** Yields an entry for each so many instances of an incident; each names the total. */
export function* withInstances(
  { kind, incident }: MessageEntry,
  instances: readonly NoticeInstance[],
): Generator<MessageEntry> {
  if (instances.length < 2) {
    yield { kind, incident };
    return;
  }
  for (let from = 0; from < instances.length; from += maxInstances) {
    yield {
      kind,
      incident: {
        ...incident,
        firing_instances: instances.length,
        instances: instances.slice(from, from + maxInstances),
      },
    };
  }
}

/** One request of a message: some of its entries, and its place among the others. */
export interface Sheet {
  readonly entries: readonly MessageEntry[];
  readonly page: MessagePage;
}

/** Gathers entries into requests that a receiver accepts. Yields one at least. */
export async function* sheetsOf(entries: AsyncIterable<MessageEntry>): AsyncGenerator<Sheet> {
  let [held, bytes, number]: [MessageEntry[], number, number] = [[], 0, 1];
  for await (const entry of entries) {
    const own = Buffer.byteLength(JSON.stringify(entry));
    if (held.length > 0 && bytes + own > fullBytes) {
      yield { entries: held, page: { number, more: true } };
      [held, bytes, number] = [[], 0, number + 1];
    }
    held.push(entry);
    bytes += own;
  }
  yield { entries: held, page: { number, more: false } };
}

/** Returns the request of a digest that has these entries; one that is alone has no number. */
export const digestSheet = (digest: ChannelMessage, { entries, page }: Sheet): ChannelMessage => ({
  ...digest,
  entries,
  ...(isPartial(page) && { page }),
});

/** Returns the request of an incident's message that has these instances; one that is alone has no number. */
export function incidentSheet(message: ChannelMessage, { entries, page }: Sheet): ChannelMessage {
  const instances = entries.flatMap(({ incident }) => incident.instances ?? []);
  const incident = entries[0]?.incident;
  return {
    ...message,
    ...(incident && {
      incident: instances.length === 0 ? incident : { ...incident, instances },
    }),
    ...(isPartial(page) && { page }),
  };
}

const isPartial = ({ number, more }: MessagePage): boolean => number > 1 || more;
