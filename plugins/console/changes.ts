import { defineEvent, type EventType, type ServerEvent } from 'svc/sdk';

/** What a page can show that may change: each is told of by name, never by content, which the page asks for with its own rights. */
const kindsOfEvents: Readonly<Record<string, readonly string[]>> = {
  'incident.fired': ['incidents'],
  'incident.changed': ['incidents'],
  'alert.rule.changed': ['rules'],
  'alert.recordings.changed': ['rules'],
  'device.created': ['devices'],
  'device.changed': ['devices'],
  'device.removed': ['devices'],
  'edge.online': ['edges', 'devices'],
  'edge.offline': ['edges', 'devices'],
  'edge.conflict': ['edges'],
  'edge.plugin_health': ['edges'],
  'edge.upgrade': ['edges'],
  'edge.written': ['edges'],
  'edge.removed': ['edges'],
  'setting.changed': ['settings'],
  'approval.requested': ['approvals'],
  'approval.settled': ['approvals'],
  'notification.finished': ['deliveries'],
  'iam.person-changed': ['users'],
  'iam.role-changed': ['roles'],
  'session.ended': ['sessions'],
  'chat.run-left': ['chat'],
  'investigation.ready': ['investigations'],
};

/** By their ids: any of these rooms may be missing. */
export const toldOf: readonly { readonly type: EventType<unknown>; readonly kinds: readonly string[] }[] = Object.entries(kindsOfEvents).map(([id, kinds]) => ({
  type: defineEvent<unknown>(id),
  kinds,
}));

/** Told to one page. */
interface Listener {
  readonly waiting: Set<string>;
  wake: () => void;
}

export interface ChangesParts {
  /** Runs `work` a little later, so that a fleet that comes up does not make every page ask a thousand times. */
  readonly later: (work: () => void) => void;
  /** What the first event of a stream says. */
  readonly hello: () => unknown;
}

/** Tells every open page which kinds of things have changed. */
export class Changes {
  readonly #listeners = new Set<Listener>();
  readonly #gathered = new Set<string>();
  readonly #parts: ChangesParts;

  constructor(parts: ChangesParts) {
    this.#parts = parts;
  }

  /** Whether any page is open. */
  get isFollowed(): boolean {
    return this.#listeners.size > 0;
  }

  tell(kinds: readonly string[]): void {
    const first = this.#gathered.size === 0;
    kinds.forEach((kind) => this.#gathered.add(kind));
    if (first) {
      this.#parts.later(() => this.#spread());
    }
  }

  /** The stream of one page, until `signal` ends it. It is never behind: what it misses while it is not read is one set of names. */
  async *follow(signal: AbortSignal): AsyncGenerator<ServerEvent> {
    const listener: Listener = { waiting: new Set(), wake: () => undefined };
    const end = (): void => listener.wake();
    this.#listeners.add(listener);
    signal.addEventListener('abort', end);
    try {
      yield { event: 'hello', data: this.#parts.hello() };
      while (!signal.aborted) {
        if (listener.waiting.size === 0) {
          await new Promise<void>((resolve) => (listener.wake = resolve));
        }
        const kinds = [...listener.waiting].sort();
        listener.waiting.clear();
        if (kinds.length > 0) {
          yield { event: 'changed', data: { kinds } };
        }
      }
    } finally {
      signal.removeEventListener('abort', end);
      this.#listeners.delete(listener);
    }
  }

  #spread(): void {
    for (const { waiting, wake } of this.#listeners) {
      this.#gathered.forEach((kind) => waiting.add(kind));
      wake();
    }
    this.#gathered.clear();
  }
}
