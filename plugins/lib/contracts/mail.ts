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
  /** True if a server is configured. */
  readonly isSet: boolean;
  /**
   * Sends a mail and resolves once the server has accepted it. Throws `conflict` if no server is
   * configured, `upstream_error` and `unavailable` depending on its answer.
   */
  send(
    mail: Mail,
    options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<MailSent>;
}

export const MailSender = defineService<MailSender>('mail.sender');
