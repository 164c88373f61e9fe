import { defineExtensionPoint, defineService, type Principal } from 'svc/sdk';

/** Something that can be named with `@type:id` in what people write. */
export interface MentionType {
  /** `edge`, `device`, `dashboard`, `incident`. */
  readonly type: string;
  /**
   * Answers of both methods to users with access to some devices: about no device, or about theirs.
   * Absent: such users get nothing.
   */
  readonly devices?: 'none' | 'narrowed';
  search(query: string, principal: Principal, limit: number): Promise<readonly Mention[]>;
  /** Returns structured context, or undefined if there is none with that id for this principal. */
  resolve(
    id: string,
    principal: Principal,
  ): Promise<
    { readonly label: string; readonly facts: Readonly<Record<string, unknown>> } | undefined
  >;
}

export interface Mention {
  readonly type: string;
  readonly id: string;
  readonly label: string;
  readonly subtitle: string;
  /** Text to insert. */
  readonly insert: string;
}

/** Resolved mention in a message, as given to a model. */
export interface Resolved {
  /** The message, with the facts behind each mention under it. */
  readonly text: string;
  readonly found: boolean;
}

export interface MentionDirectory {
  search(
    text: string,
    type: string | undefined,
    principal: Principal,
    limit: number,
  ): Promise<readonly Mention[]>;
  /** Resolves the mentions of a message; what this person cannot see is reported as unknown. */
  resolve(content: string, principal: Principal): Promise<Resolved>;
}

export const MentionDirectory = defineService<MentionDirectory>('mention.directory');
export const Mentions = defineExtensionPoint<MentionType>('mention.types', undefined, {
  methods: ['search', 'resolve'],
});
