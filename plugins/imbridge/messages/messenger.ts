import type {
  ImApp,
  ImButton,
  ImEvent,
  ImForm,
  ImMessage,
  ImPage,
  ImPicture,
  ImPlatform,
  ImPorts,
  ImPreview,
  ImSent,
  ImTarget,
} from 'svc/contracts/imbridge';
import { SlidingCounter } from 'svc/flow';
import { inParts } from 'svc/im';
import type { Clock, Logger } from 'svc/sdk';

import type { Apps } from '../apps/apps.ts';
import type { Posted } from '../store/message-store.ts';
import type { AppRow } from '../store/tables.ts';
import { fitting, harmless } from './fitting.ts';
import type { LeasedMessage } from './leased-message.ts';
import { filled, wordsOf } from './words.ts';

export interface MessengerParts {
  readonly apps: Apps;
  readonly ports: ImPorts;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}

/** Text to send, before it is neutralized. */
export interface Saying {
  readonly text: string;
  readonly buttons?: readonly ImButton[];
}

/** Sending failed; `again` says whether a later try may succeed. */
export class SendDeferred extends Error {
  readonly again: boolean;
  readonly afterMs: number | undefined;

  constructor(reason: string, again: boolean, afterMs?: number) {
    super(reason);
    this.again = again;
    this.afterMs = afterMs;
  }
}

const maxKeys = 10_000;
/** Messages of one answer: more than that nobody reads in a chat. */
const maxParts = 12;

/** Sends messages to platforms: harmless text, at the pace of the platform, one message for one answer. */
export class Messenger {
  readonly #parts: MessengerParts;
  readonly #paces = new Map<string, SlidingCounter>();

  constructor(parts: MessengerParts) {
    this.#parts = parts;
  }

  /**
   * Sends the answer to a message, or edits the one that was sent. Throws SendDeferred if the
   * platform does not accept it.
   */
  async answer(
    app: AppRow,
    message: LeasedMessage,
    target: ImTarget,
    saying: Saying,
  ): Promise<Posted> {
    const platform = this.#parts.apps.platform(app.provider);
    if (
      message.row.sent === null &&
      platform?.repeats === 'unknown' &&
      platform.edit !== undefined
    ) {
      await this.#post(app, message, target, { text: '…' });
    }
    const parts = this.#partsOf(app, saying);
    const name = this.#isForFile(platform, parts, saying)
      ? await this.#file(app, message, target, saying)
      : undefined;
    const [first, ...further] = name === undefined ? parts : [this.#excerpt(app, saying, name)];
    const posted = await this.#post(app, message, target, first!);
    return await this.#continue(app, message, target, { posted, further });
  }

  #isForFile(platform: ImPlatform | undefined, parts: readonly Saying[], saying: Saying): boolean {
    return (
      platform?.sendFile !== undefined &&
      saying.buttons === undefined &&
      parts.length > (platform.max_messages ?? maxParts - 1)
    );
  }

  /**
   * Sends a text as a file, once, and returns its name; undefined if the platform does not take it,
   * so that the text goes into messages.
   */
  async #file(
    app: AppRow,
    message: LeasedMessage,
    target: ImTarget,
    { text }: Saying,
  ): Promise<string | undefined> {
    const { id, conversation } = message.row;
    const name = `answer-${id.slice(-8)}.md`;
    if (message.row.sent === null && this.#parts.apps.platform(app.provider)?.edit !== undefined) {
      await this.#post(app, message, target, { text: '…' });
    }
    const { sent: earlier } = message.row;
    const posted = earlier === null ? undefined : (JSON.parse(earlier) as Posted);
    if (posted?.filed === true) {
      return name;
    }
    const way = { pace: `${app.id}|${conversation}`, key: `${id}.file`, again: message.isDoubtful };
    const sent = await this.#say(app, way, { text: name }, (opened, platform, said, ports) =>
      platform.sendFile!(opened, target, { ...said, name, text: harmless(text) }, ports),
    );
    if (sent.result === 'failed') {
      return undefined;
    }
    const filed: Posted = { ...postedOf(sent), ...posted, filed: true };
    await message.keep({ sent: JSON.stringify(filed) });
    return name;
  }

  /** The beginning of a text that was sent as a file. */
  #excerpt({ provider, locale }: AppRow, { text }: Saying, name: string): Saying {
    const fits = fitting(this.#parts.apps.platform(provider)!);
    const note = filled(wordsOf(locale).inFile, { name });
    const [part] = inParts(harmless(text), (each) => fits(`${each}\n\n${note}`), maxParts);
    return { text: `${part}\n\n${note}` };
  }

  /** Sends the parts of a long answer that are not there yet. */
  async #continue(
    app: AppRow,
    message: LeasedMessage,
    target: ImTarget,
    { posted, further }: { readonly posted: Posted; readonly further: readonly Saying[] },
  ): Promise<Posted> {
    const { id, conversation } = message.row;
    let last = posted;
    for (const [index, saying] of further.entries()) {
      const part = index + 2;
      if (part <= (posted.parts ?? 1)) {
        continue;
      }
      const way = {
        pace: `${app.id}|${conversation}`,
        key: `${id}.${part}`,
        again: message.isDoubtful,
      };
      postedOf(
        await this.#say(app, way, saying, (opened, platform, said, ports) =>
          platform.send(opened, target, said, ports),
        ),
      );
      last = { ...posted, parts: part };
      await message.keep({ sent: JSON.stringify(last) });
    }
    return last;
  }

  /** A long text in several messages, the last of which has the buttons. */
  #partsOf(app: AppRow, { text, buttons }: Saying): readonly Saying[] {
    const platform = this.#parts.apps.platform(app.provider);
    const parts =
      platform === undefined ? [text] : inParts(harmless(text), fitting(platform), maxParts);
    return parts.map((part, index) => ({
      text: part,
      ...(index === parts.length - 1 && buttons !== undefined && { buttons }),
    }));
  }

  async #post(
    app: AppRow,
    message: LeasedMessage,
    target: ImTarget,
    saying: Saying,
  ): Promise<Posted> {
    const { id, conversation, sent: earlier } = message.row;
    const sent = earlier === null ? undefined : (JSON.parse(earlier) as Posted);
    const way = { pace: `${app.id}|${conversation}`, key: id, again: message.isDoubtful };
    const result = await this.#say(app, way, saying, async (opened, platform, said, ports) => {
      if (sent !== undefined && platform.edit !== undefined) {
        return await platform.edit(opened, sent.at, said, ports);
      }
      const first = await platform.send(opened, target, said, ports);
      // A platform that knows the key shows what was first sent with it.
      return first.result === 'sent' && way.again && platform.edit !== undefined
        ? await platform.edit(opened, first.at, said, ports)
        : first;
    });
    if (result.result === 'retry' && result.unclear) {
      message.doubt();
    }
    const posted: Posted = {
      ...postedOf(result),
      parts: sent?.parts ?? 1,
      ...(sent?.filed === true && { filed: true }),
      ...(sent?.pictured === true && { pictured: true }),
    };
    await message.keep({ sent: JSON.stringify(posted) });
    return posted;
  }

  /**
   * Shows a growing answer: skipped if the rate limit leaves no capacity, and failures are ignored.
   */
  async grow(app: AppRow, { row }: LeasedMessage, text: string): Promise<boolean> {
    const platform = this.#parts.apps.platform(app.provider);
    const pace = `${app.id}|${row.conversation}`;
    if (
      platform?.edit === undefined ||
      row.sent === null ||
      (JSON.parse(row.sent) as Posted).fixed === true ||
      this.#waitMs(platform, app.provider, pace) > 0
    ) {
      return false;
    }
    const { at } = JSON.parse(row.sent) as Posted;
    const result = await this.#say(
      app,
      { pace, key: row.id, again: false },
      { text },
      (opened, on, message, ports) => on.edit!(opened, at, message, ports),
    ).catch(() => undefined);
    return result?.result === 'sent';
  }

  /** Something new; `key` is the same over all tries. Throws SendDeferred. */
  async tell(
    app: AppRow,
    conversation: string,
    target: ImTarget,
    saying: Saying,
    key: string,
  ): Promise<Posted> {
    return postedOf(
      await this.#say(
        app,
        { pace: `${app.id}|${conversation}`, key, again: true },
        saying,
        (opened, platform, message, ports) => platform.send(opened, target, message, ports),
      ),
    );
  }

  /** Sends a picture of what was said in words before. One that fails is left out, with its cause in the log. */
  async picture(
    app: AppRow,
    conversation: string,
    target: ImTarget,
    picture: ImPicture,
  ): Promise<void> {
    if (this.#parts.apps.platform(app.provider)?.sendPicture === undefined) {
      return;
    }
    const { key, again } = picture;
    try {
      postedOf(
        await this.#say(
          app,
          { pace: `${app.id}|${conversation}`, key, again },
          { text: picture.caption },
          (opened, platform, { text: caption }, ports) =>
            platform.sendPicture!(opened, target, { ...picture, caption }, ports),
        ),
      );
    } catch (error) {
      if (!(error instanceof SendDeferred)) {
        throw error;
      }
      this.#parts.log.warn(
        { event: 'im.no_picture', app: app.id, provider: app.provider, cause: error.message },
        'the platform did not take the picture of a chart; the message has what it shows in words',
      );
    }
  }

  /** Edits a sent message, if the platform supports it. */
  async rewrite(
    app: AppRow,
    conversation: string,
    at: ImTarget,
    saying: Saying,
    key: string,
  ): Promise<boolean> {
    if (this.#parts.apps.platform(app.provider)?.edit === undefined) {
      return false;
    }
    postedOf(
      await this.#say(
        app,
        { pace: `${app.id}|${conversation}`, key, again: false },
        saying,
        (opened, platform, message, ports) => platform.edit!(opened, at, message, ports),
      ),
    );
    return true;
  }

  /** Opens a form in answer to a press; returns false where it is too late for that. */
  async openForm(app: AppRow, { form: at }: ImEvent, form: ImForm): Promise<boolean> {
    const sent = await this.#call(app, (opened, platform, ports) =>
      at === undefined ? undefined : platform.openForm?.(opened, at, form, ports),
    );
    return sent?.result === 'sent';
  }

  /** Shows a person the page of the app; the next time they open it, it is shown anew. */
  async showPage(app: AppRow, sender: string, page: ImPage): Promise<void> {
    const sections = page.sections.map(({ text, buttons }) => ({ text: harmless(text), buttons }));
    const sent = await this.#call(app, (opened, platform, ports) =>
      platform.showPage?.(opened, sender, { ...page, sections }, ports),
    );
    if (sent !== undefined) {
      postedOf(sent);
    }
  }

  /** Shows what addresses in a message lead to; returns whether the platform took it. */
  async preview(app: AppRow, { reply }: ImEvent, previews: readonly ImPreview[]): Promise<boolean> {
    const shown = previews.map(({ url, text }) => ({ url, text: harmless(text) }));
    const sent = await this.#call(app, (opened, platform, ports) =>
      platform.preview?.(opened, reply, shown, ports),
    );
    return sent?.result === 'sent';
  }

  async #call(
    app: AppRow,
    call: (app: ImApp, platform: ImPlatform, ports: ImPorts) => Promise<ImSent> | undefined,
  ): Promise<ImSent | undefined> {
    const { apps, ports } = this.#parts;
    const platform = apps.platform(app.provider);
    return platform === undefined ? undefined : await call(apps.open(app), platform, ports);
  }

  async #say(
    app: AppRow,
    { pace, key, again }: { readonly pace: string; readonly key: string; readonly again: boolean },
    { text, buttons = [] }: Saying,
    send: (app: ImApp, platform: ImPlatform, message: ImMessage, ports: ImPorts) => Promise<ImSent>,
  ): Promise<ImSent> {
    const { apps, ports } = this.#parts;
    const platform = apps.platform(app.provider);
    if (platform === undefined) {
      throw new SendDeferred(`the plugin of ${app.provider} is not enabled`, true, 60_000);
    }
    const wait = this.#waitMs(platform, app.provider, pace);
    if (wait > 0) {
      throw new SendDeferred('the rate limit of the platform', true, wait);
    }
    this.#paceOf(platform, app.provider).add(pace);
    return await send(
      apps.open(app),
      platform,
      { text: inParts(harmless(text), fitting(platform), 1)[0]!, buttons, key, again },
      ports,
    );
  }

  #waitMs(platform: ImPlatform, provider: string, key: string): number {
    return Math.ceil(this.#paceOf(platform, provider).waitMs(key));
  }

  #paceOf({ pace: { count, per_ms } }: ImPlatform, provider: string): SlidingCounter {
    const name = `${provider}|${count}|${per_ms}`;
    const known =
      this.#paces.get(name) ??
      new SlidingCounter({
        limit: count,
        windowMs: per_ms,
        clock: this.#parts.clock,
        maxKeys: maxKeys,
      });
    this.#paces.set(name, known);
    return known;
  }
}

function postedOf(sent: ImSent): Posted {
  if (sent.result === 'sent') {
    const { at, id, thread, fixed = false } = sent;
    return { at, id, thread, ...(fixed && { fixed }) };
  }
  throw new SendDeferred(
    sent.reason,
    sent.result === 'retry',
    sent.result === 'retry' ? sent.after_ms : undefined,
  );
}
