import type { DeviceScope, SeenBy } from 'svc/query';
import { defineEvent, type EventType, type Principal, type ServerEvent } from 'svc/sdk';

/**
 * Subject of an event: its devices, or its actor; users with access to some devices learn of no
 * others.
 */
export interface About {
  readonly devices: readonly (number | string | null | undefined)[];
  readonly person?: string | undefined;
}

/** Returns the device of an edge; undefined if the edge is gone. */
export type DeviceOfEdge = (edgeId: number) => number | null | undefined;

type AboutOf = (event: never, deviceOfEdge: DeviceOfEdge) => About;

interface Incident {
  readonly incident: { readonly device_id?: string };
}
interface Approval {
  readonly target: { readonly kind: string; readonly id: number | undefined };
  readonly requested_by: { readonly id: string };
}

const ofDevice: AboutOf = ({
  device_id: device,
}: {
  readonly device_id: number | string | null;
}) => ({ devices: [device] });
const ofEdge: AboutOf = ({ edge_id: edge }: { readonly edge_id: number }, deviceOfEdge) => ({
  devices: [deviceOfEdge(edge)],
});
const ofApproval: AboutOf = ({ target, requested_by: by }: Approval) => ({
  devices: target.kind === 'device' ? [target.id] : [],
  person: by.id,
});
/**
 * Subject of events whose devices are unknown, or not visible to users with access to some devices.
 */
const ofNone: AboutOf = () => ({ devices: [] });

interface Kinds {
  readonly kinds: readonly string[];
  /** Absent: of no device. */
  readonly about?: AboutOf;
}

/**
 * Kinds of changes that a page can show, by event: pages are notified by kind, never with content,
 * which they fetch with their own rights.
 */
const kindsOfEvents: Readonly<Record<string, Kinds>> = {
  'incident.fired': {
    kinds: ['incidents'],
    about: ({ incident }: Incident) => ({ devices: [incident.device_id] }),
  },
  'incident.changed': { kinds: ['incidents'], about: ofDevice },
  'alert.rule.changed': { kinds: ['rules'] },
  'alert.recordings.changed': { kinds: ['rules'] },
  'device.created': { kinds: ['devices'], about: ofDevice },
  'device.changed': { kinds: ['devices'], about: ofDevice },
  'device.removed': { kinds: ['devices'], about: ofDevice },
  'edge.online': { kinds: ['edges', 'devices'], about: ofEdge },
  'edge.offline': { kinds: ['edges', 'devices'], about: ofEdge },
  'edge.conflict': { kinds: ['edges'], about: ofEdge },
  'edge.plugin_health': { kinds: ['edges'], about: ofEdge },
  'edge.upgrade': { kinds: ['edges'], about: ofEdge },
  'edge.written': { kinds: ['edges'], about: ofEdge },
  'edge.removed': { kinds: ['edges'], about: ofEdge },
  'setting.changed': { kinds: ['settings'] },
  'approval.requested': { kinds: ['approvals'], about: ofApproval },
  'approval.settled': { kinds: ['approvals'], about: ofApproval },
  'notification.finished': { kinds: ['deliveries'], about: ofNone },
  'iam.person-changed': { kinds: ['users'] },
  'iam.role-changed': { kinds: ['roles'] },
  'session.ended': { kinds: ['sessions'] },
  'chat.run-left': { kinds: ['chat'] },
  'investigation.ready': { kinds: ['investigations'], about: ofNone },
};

/** Events by id: the plugin of any of them may be missing. */
export const toldOf: readonly (Kinds & { readonly type: EventType<unknown> })[] = Object.entries(
  kindsOfEvents,
).map(([id, kinds]) => ({
  ...kinds,
  type: defineEvent<unknown>(id),
}));

/** Page that listens for changes. */
interface Listener {
  readonly principal: Principal;
  /** Scope they saw last: what they no longer see has changed for them, too. */
  seen: DeviceScope | undefined;
  readonly waiting: Set<string>;
  wake: () => void;
}

export interface ChangesParts {
  /**
   * Runs `work` a little later, so that a starting fleet does not make every page request a
   * thousand times.
   */
  readonly later: (work: () => void) => void;
  /** Returns the first event of a stream. */
  readonly hello: () => unknown;
  readonly seenBy: SeenBy;
  /** Called if someone's scope could not be read: they get no events. */
  readonly unread: (error: unknown) => void;
}

/** Changes of one kind since the last notification: for everyone, or of certain devices. */
interface Gathered {
  forAll: boolean;
  readonly devices: Set<number>;
  readonly people: Set<string>;
}

/** Tells every open page which kinds of things have changed. */
export class Changes {
  readonly #listeners = new Set<Listener>();
  #gathered = new Map<string, Gathered>();
  readonly #parts: ChangesParts;

  constructor(parts: ChangesParts) {
    this.#parts = parts;
  }

  /** True if any page is open. */
  get isFollowed(): boolean {
    return this.#listeners.size > 0;
  }

  /** `about` undefined: of no device. */
  tell(kinds: readonly string[], about?: About): void {
    const first = this.#gathered.size === 0;
    for (const kind of kinds) {
      const gathered = this.#gathered.get(kind) ?? {
        forAll: false,
        devices: new Set(),
        people: new Set(),
      };
      this.#gathered.set(kind, gathered);
      gathered.forAll ||= about === undefined;
      about?.devices.forEach(
        (device) => device !== null && device !== undefined && gathered.devices.add(Number(device)),
      );
      if (about?.person !== undefined) {
        gathered.people.add(about.person);
      }
    }
    if (first) {
      this.#parts.later(() => void this.#spread());
    }
  }

  /**
   * Streams the changes of one page, until `signal` ends it. It is never behind: what accumulates
   * while it is not read is one set of names.
   */
  async *follow(principal: Principal, signal: AbortSignal): AsyncGenerator<ServerEvent> {
    const listener: Listener = {
      principal,
      seen: await this.#parts.seenBy(principal),
      waiting: new Set(),
      wake: () => undefined,
    };
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

  async #spread(): Promise<void> {
    const gathered = this.#gathered;
    this.#gathered = new Map();
    for (const listener of [...this.#listeners]) {
      const kinds =
        listener.principal.selectors === undefined
          ? gathered.keys()
          : await this.#heardBy(listener, gathered);
      for (const kind of kinds) {
        listener.waiting.add(kind);
      }
      if (listener.waiting.size > 0) {
        listener.wake();
      }
    }
  }

  async #heardBy(
    listener: Listener,
    gathered: ReadonlyMap<string, Gathered>,
  ): Promise<readonly string[]> {
    const { seenBy, unread } = this.#parts;
    try {
      const [before, now] = [listener.seen, await seenBy(listener.principal)];
      listener.seen = now;
      const isSeen = (device: number): boolean =>
        before?.ids.has(device) === true || now?.ids.has(device) === true;
      return [...gathered]
        .filter(
          ([, { forAll, devices, people }]) =>
            forAll || people.has(listener.principal.id) || [...devices].some(isSeen),
        )
        .map(([kind]) => kind);
    } catch (error) {
      unread(error);
      return [];
    }
  }
}
