import { defineEvent, defineExtensionPoint, defineService } from 'svc/sdk';

export type Severity = 'info' | 'warning' | 'critical';

/** An incident as a channel may show it: rendered, nothing to look up. */
export interface NoticeIncident {
  readonly id: number;
  readonly rule_key: string;
  readonly rule_name: string;
  readonly severity: Severity;
  readonly status: string;
  readonly scope_type: 'host' | 'global' | 'monitoring_pipeline';
  readonly scope_id: string;
  readonly device_id?: string;
  readonly summary: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly runbook_url?: string;
  readonly dedupe_key: string;
  readonly value?: number;
  readonly threshold?: number;
  readonly fired_at: string;
  readonly resolved_at?: string;
  /** Why it is over, where that is not that its condition has cleared. */
  readonly ended_because?: string;
  readonly event_count: number;
  /** Number of firing instances that are not muted; absent means one. */
  readonly firing_instances?: number;
  /** The first twenty of those. */
  readonly instances?: readonly NoticeInstance[];
  /** Number of instances that fire and no longer met the condition at the last evaluation: one more ends them; absent means none. */
  readonly clearing_instances?: number;
  /** The first twenty of those. */
  readonly clearing?: readonly NoticeInstance[];
  /** Number of instances that fired and ceased to since channels were last notified; absent means none. */
  readonly left_instances?: number;
  /** The first twenty of those. */
  readonly left?: readonly NoticeInstance[];
  /** Set if it keeps firing and ending: it is not notified again until it settles. */
  readonly flapping?: { readonly fires: number; readonly window_seconds: number };
}

/** One label set of an incident that has several. */
export interface NoticeInstance {
  readonly labels: Readonly<Record<string, string>>;
  readonly value?: number;
  /** When it fired. */
  readonly since: string;
  /** When it ceased to. */
  readonly until?: string;
}

/** One notification about an incident, for all channels that take it. */
export interface Notice {
  /** Unique for good. A reminder of an acknowledged incident says that it is, to channels that track incidents. The same notice accepted twice is sent once; a second firing of the same number says who has joined, or that it is worse. */
  readonly id: string;
  readonly kind: 'firing' | 'resolved' | 'reminder';
  /** Counts the firings of the incident: a resolve goes to those who got the firing with the same number. */
  readonly fire_seq: number;
  readonly incident: NoticeIncident;
  /** Channels the rule pins; empty: every channel whose filters let it through. */
  readonly pins: readonly number[];
}

/** Outcome of one notice on one channel. */
export interface Outcome {
  /** Unique for good: one per notice and channel. */
  readonly delivery_id: string;
  readonly notice_id: string;
  readonly incident_id: number;
  readonly kind: Notice['kind'];
  readonly channel_id: number;
  readonly channel_name: string;
  /**
   * folded: sent in a digest. overtaken: never sent, because the incident was over before it could be. delayed: could not
   * be sent so far and is tried again; another outcome follows, of another delivery_id.
   */
  readonly result: 'sent' | 'failed' | 'folded' | 'overtaken' | 'delayed';
  readonly attempts: number;
  readonly error?: string;
  readonly at: string;
}

/** Message of a plugin to people that is not about an incident. */
export interface Words {
  /** Unique for good. */
  readonly id: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** Path of the page with more, below the address of svc. */
  readonly path: string;
  readonly channels: readonly number[];
}

/** Takes notices over: once accepted, each ends in exactly one outcome per channel, over every restart. */
export interface NoticeDispatcher {
  accept(...notices: readonly Notice[]): Promise<void>;
  /** Which channels a notice would go to, and why the others not. */
  preview(notice: Notice): Promise<
    readonly {
      readonly channel_id: number;
      readonly name: string;
      readonly sends: boolean;
      readonly reason?: string;
    }[]
  >;
  /** Words that are about no incident, to these channels and at once; said again with the same id, they are said once. */
  say(words: Words): Promise<void>;
  /** Ids among these that are no channel. */
  unknown(ids: readonly number[]): Promise<readonly number[]>;
  /** Returns those of these channels that refuse every incident of this kind, by a filter or disabled for now. */
  refusing(
    ids: readonly number[],
    incident: Pick<NoticeIncident, 'scope_type'> & { readonly severity?: Severity },
  ): Promise<readonly Readonly<{ name: string; reason: string; disabled: boolean }>[]>;
}

/** Some of the instances of an incident, firing ones first, with their total number. */
export interface NoticeInstances {
  readonly items: readonly (NoticeInstance & { readonly state: string })[];
  readonly total: number;
}

/** Source of incidents: keeps their timeline, and knows which rules pin a channel. */
export interface NoticeSource {
  /** All of them or none, in their order. Repeating an outcome changes nothing. */
  record(outcomes: readonly Outcome[]): Promise<void>;
  /** Names of the rules that pin the channel. */
  pinning(channelId: number): Promise<readonly string[]>;
  /**
   * Returns those of these incidents that are firing and neither acknowledged nor muted, as they
   * are now.
   */
  burning(incidents: readonly number[]): Promise<readonly NoticeIncident[]>;
  /** Returns more about one incident than its notice has, as of now. */
  background(incident: number): Promise<Background | undefined>;
  /** Returns up to this many of its instances, after the first `from`. */
  instances(
    incident: number,
    page: { readonly from: number; readonly limit: number },
  ): Promise<NoticeInstances>;
  /** Returns every instance of an incident that fires and is not muted, as they are now. */
  audible(incident: number): Promise<readonly NoticeInstance[]>;
}

/** Background of an incident; unknown parts are absent. */
export interface Background {
  /** Incident as it is now. */
  readonly incident: NoticeIncident;
  readonly acknowledged_by?: string;
  readonly acknowledged_at?: string;
  /** Unit suffix of values, such as ` %`. */
  readonly unit?: string;
  /** Values of the last hour, with their times in milliseconds. */
  readonly hour?: readonly (readonly [number, number])[];
  /** Statistics of the week before. */
  readonly week?: { readonly average: number; readonly lowest: number; readonly highest: number };
  /** First line of what an investigation has found, while the incident fires. */
  readonly diagnosis?: string;
  /** Remedy, step by step. */
  readonly steps: readonly string[];
  /** Other incidents firing on the same device. */
  readonly beside: readonly string[];
}

export const NoticeDispatcher = defineService<NoticeDispatcher>('notify.dispatcher');
export const NoticeSource = defineService<NoticeSource>('alert.notices');
export const NotificationFinished = defineEvent<Outcome>('notification.finished');

/** Message about one incident. */
export interface MessageEntry {
  readonly kind: Notice['kind'];
  readonly incident: NoticeIncident;
}

/** One thing that is known, such as `Host` and which. */
export interface Fact {
  readonly name: string;
  readonly text: string;
}

/**
 * Message that a channel shows, made from a notice: plain text, which the channel type escapes for
 * its platform.
 */
export interface ChannelMessage {
  readonly delivery_id: string;
  readonly kind: Notice['kind'] | 'test' | 'digest' | 'words';
  readonly severity: Severity;
  /** Tone that determines its colour. */
  readonly tone: Severity | 'good';
  readonly title: string;
  /** About, facts and steps one below the other, or what the channel's own template made. */
  readonly lines: readonly string[];
  readonly about: readonly string[];
  readonly facts: readonly Fact[];
  /** Remedy, step by step. */
  readonly steps: readonly string[];
  /** Link to the page with more. */
  readonly link: string;
  /** Link where a signed-in user acknowledges or silences it, or extends its silence. */
  readonly act?: string;
  /** The last hour: at an address that opens without an account, and as it is, where there is something to draw. */
  readonly chart?: { readonly link: string; png(): Uint8Array | undefined };
  /** True if the lines come from the channel's own template. */
  readonly templated: boolean;
  /** Incident; absent for a digest and a test. */
  readonly incident?: NoticeIncident;
  /** Entries of a digest, worst first, with their total number. */
  readonly entries?: readonly MessageEntry[];
  readonly count?: number;
  readonly group_key?: string;
  /** Which request of the message this is, for a channel that is `paged`; absent if it is the only one. */
  readonly page?: MessagePage;
}

/** Place of one request among those of a message. */
export interface MessagePage {
  /** Counted from 1. */
  readonly number: number;
  /** False on the last one. */
  readonly more: boolean;
}

/** Address of a channel. Both fields are secrets. */
export interface ChannelAddress {
  readonly endpoint: string;
  /** Secret; empty if there is none. */
  readonly secret: string;
}

export interface ChannelRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ChannelReply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** True if the reply was cut off or never ended: the body is what had arrived. */
  readonly isCut?: boolean;
}

/**
 * Meaning of a reply. `plain`: the platform rejected the rich form, and the plain one is sent
 * immediately.
 */
export type Verdict =
  | { readonly result: 'sent' }
  | { readonly result: 'plain' }
  /** `afterMs`: the platform itself says how long nothing more may come. */
  | { readonly result: 'retry'; readonly reason: string; readonly afterMs?: number }
  /** `degraded`: nothing else sent there will fare better until its settings or the platform are corrected. */
  | { readonly result: 'failed'; readonly reason: string; readonly degraded?: boolean };

/** Properties common to all kinds of channels. */
interface ChannelKind {
  readonly title: string;
  /** Further names it is accepted under. */
  readonly aliases?: readonly string[];
  readonly secret: 'none' | 'optional' | 'required';
  /** Rate limits in sliding windows; below what the platform allows. */
  readonly limits: readonly { readonly count: number; readonly per_ms: number }[];
  /** Throws invalid_argument, without repeating a secret, unless this may be an address of the platform. */
  check(address: ChannelAddress): void;
  /**
   * True if it keeps incidents of its own: each is sent separately, never in a digest, and so are
   * acknowledgements.
   */
  readonly tracks?: boolean;
  /**
   * Returns the displayable part of an endpoint that is not a web address; of a web address it is
   * the host.
   */
  shown?(endpoint: string): string | undefined;
}

/** A kind of channel that is sent each message by one request. */
export interface PostedChannelType extends ChannelKind {
  /**
   * True if it is sent every instance and every incident of a message, in as many requests as that
   * takes: the reader is a program, which has no page to open.
   */
  readonly paged?: true;
  render(
    message: ChannelMessage,
    address: ChannelAddress,
    at: { readonly now: number; readonly plain: boolean },
  ): ChannelRequest;
  judge(reply: ChannelReply, now: number): Verdict;
  /**
   * Returns a second request to send once the message was accepted, such as its picture. The
   * message counts as sent regardless of the outcome.
   */
  enclosure?(message: ChannelMessage, address: ChannelAddress): ChannelRequest | undefined;
}

/** Kind of channel with its own delivery, where a single request is not enough. */
export interface DeliveringChannelType extends ChannelKind {
  /** `delivery_id` of the message stays the same over all tries. Throwing is another try, unless what is thrown says that none will fare better. */
  deliver(
    message: ChannelMessage,
    address: ChannelAddress,
    at: { readonly now: number; readonly timeoutMs: number },
  ): Promise<Verdict>;
}

/** One kind of channel. */
export type ChannelType = PostedChannelType | DeliveringChannelType;

/** A kind of channel as data, which a pack contributes in its plugin.json. */
export interface DeclaredChannelType {
  readonly title: string;
  readonly secret?: 'none' | 'optional' | 'required';
  readonly limits: readonly { readonly count: number; readonly per_ms: number }[];
  /** Hosts its endpoints may name; absent: any. */
  readonly hosts?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Template of the body over title, text, link, severity, kind, delivery_id and secret; `json` quotes. */
  readonly body: string;
  /** Bytes of `text` at most. */
  readonly max_text_bytes: number;
  /** Besides a 2xx status: the member of the JSON reply that must be this. */
  readonly success?: { readonly member: string; readonly equals: string | number | boolean };
}

const limits = {
  type: 'array',
  minItems: 1,
  maxItems: 4,
  items: {
    type: 'object',
    required: ['count', 'per_ms'],
    properties: {
      count: { type: 'integer', minimum: 1, maximum: 200 },
      per_ms: { type: 'integer', minimum: 1, maximum: 3_600_000 },
    },
  },
};

const channelType = {
  type: 'object',
  required: ['title', 'limits'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 80 },
    secret: { enum: ['none', 'optional', 'required'] },
    limits,
    hosts: {
      type: 'array',
      maxItems: 20,
      items: { type: 'string', minLength: 1, maxLength: 253 },
    },
    headers: {
      type: 'object',
      maxProperties: 20,
      additionalProperties: { type: 'string', maxLength: 1_000 },
    },
    body: { type: 'string', minLength: 1, maxLength: 16_384 },
    max_text_bytes: { type: 'integer', minimum: 100, maximum: 262_144 },
    success: {
      type: 'object',
      required: ['member', 'equals'],
      properties: {
        member: { type: 'string', minLength: 1, maxLength: 80 },
        equals: { type: ['string', 'number', 'boolean'] },
      },
    },
  },
};

/**
 * Contributions are named by the channel_type they bring. A pack describes one as data; what it
 * sends is named where it is allowed.
 */
export const ChannelTypes = defineExtensionPoint<
  ChannelType | DeclaredChannelType,
  DeclaredChannelType
>('notify.channel-types', channelType, {
  methods: [],
  packs: {
    // What else a value held would be taken for a type with code.
    schema: {
      ...channelType,
      additionalProperties: false,
      required: [...channelType.required, 'body', 'max_text_bytes'],
    },
    sentence: (id, { title, hosts = [], headers = {}, body }) =>
      `adds the channel type ${id} ("${title}"), which sends notifications to ${hosts.length === 0 ? 'any host' : hosts.join(', ')}${
        Object.keys(headers).length === 0
          ? ''
          : ` with the headers ${Object.entries(headers)
              .map(([name, text]) => `${name}: ${text}`)
              .join(', ')}`
      }, as ${body}`,
  },
});
