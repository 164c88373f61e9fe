import { defineExtensionPoint, defineService, type Principal } from 'svc/sdk';

/** Something that can be named with `@type:id` in what people write. */
export interface MentionType {
  /** `edge`, `device`, `dashboard`, `incident`. */
  readonly type: string;
  /** Both answer with what the principal sees: of no device, or of theirs. Absent: who sees some devices alone is not told of any. */
  readonly devices?: 'none' | 'narrowed';
  search(query: string, principal: Principal, limit: number): Promise<readonly Mention[]>;
  /** Structured context, or undefined when there is none of that id for this principal. */
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
  /** What stands in the text. */
  readonly insert: string;
}

/** What a message names, as a model is told of it. */
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
  /** What this person cannot see is said to be unknown. */
  resolve(content: string, principal: Principal): Promise<Resolved>;
}

export const MentionDirectory = defineService<MentionDirectory>('mention.directory');
export const Mentions = defineExtensionPoint<MentionType>('mention.types');
