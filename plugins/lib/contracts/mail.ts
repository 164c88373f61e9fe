import { defineService } from 'svc/sdk';

export interface Mail {
  /** Stays the same over all tries of one message. */
  readonly id: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** The same, for programs that show HTML. */
  readonly html?: string;
  /** A PNG below the HTML. */
  readonly picture?: Uint8Array;
  /** Messages of one thread are shown together. */
  readonly thread?: string;
}

export interface MailSent {
  /** Addresses that the server did not take, and why; the others have it. */
  readonly refused: readonly { readonly to: string; readonly reason: string }[];
}

export interface MailSender {
  /** Whether a server is set. */
  readonly isSet: boolean;
  /** Resolves once the server has taken it. Throws `conflict` where none is set, `upstream_error` and `unavailable` as the server answers. */
  send(
    mail: Mail,
    options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<MailSent>;
}

export const MailSender = defineService<MailSender>('mail.sender');
