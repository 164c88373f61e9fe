import { isObject } from '../model/is-object.ts';
import { type BrowserEvent, CommandError, type DevTools } from './dev-tools.ts';
import type { Browser } from './chromium.ts';
import { type Key, keys } from '../model/step.ts';

/** Pause between two looks at something that is awaited. */
const lookMs = 100;
/** Largest picture that is kept, in characters of base64. */
export const maxPicture = 400_000;
const qualities = [60, 30, 10] as const;
const pictureMs = 5_000;

/** Something that no waiting will bring about. */
export class StepError extends Error {}

/** One page of a browser, and what a person would do on it. */
export class Page {
  readonly #tools: DevTools;
  readonly #pause: Browser['pause'];
  readonly #session: string;
  readonly #frame: string;
  #world: number | undefined;

  private constructor({ tools, pause }: Browser, session: string, frame: string) {
    this.#tools = tools;
    this.#pause = pause;
    this.#session = session;
    this.#frame = frame;
  }

  /** Opens an empty page, which sends nothing before it is told where to go. */
  static async open(
    browser: Browser,
    { insecure, signal }: { readonly insecure: boolean; readonly signal: AbortSignal },
  ): Promise<Page> {
    const { tools, credential } = browser;
    const { targetId } = await tools.send(
      'Target.createTarget',
      { url: 'about:blank' },
      { signal },
    );
    const { sessionId } = await tools.send(
      'Target.attachToTarget',
      { targetId, flatten: true },
      { signal },
    );
    const page = new Page(browser, String(sessionId), String(targetId));
    tools.on((event) => page.#answer(event, credential));
    await page.#send('Page.enable', {}, signal);
    await page.#send('Security.setIgnoreCertificateErrors', { ignore: insecure }, signal);
    // Requests stop here for a moment, so that the proxy can be shown its credential.
    await page.#send('Fetch.enable', { handleAuthRequests: true }, signal);
    return page;
  }

  /** Returns why the browser cannot go there; undefined if a document has come. */
  async goTo(url: string, signal: AbortSignal): Promise<string | undefined> {
    const { errorText } = await this.#send('Page.navigate', { url }, signal);
    this.#world = undefined;
    return typeof errorText === 'string' ? errorText : undefined;
  }

  async click(at: { readonly x: number; readonly y: number }, signal: AbortSignal): Promise<void> {
    for (const [type, buttons] of [
      ['mouseMoved', 0],
      ['mousePressed', 1],
      ['mouseReleased', 0],
    ] as const) {
      const button = type === 'mouseMoved' ? 'none' : 'left';
      const event = { type, ...at, button, buttons, clickCount: 1 };
      await this.#send('Input.dispatchMouseEvent', event, signal);
    }
  }

  async type(text: string, signal: AbortSignal): Promise<void> {
    await this.#send('Input.insertText', { text }, signal);
  }

  async press(name: string, signal: AbortSignal): Promise<void> {
    const { text, ...rest }: Key = keys[name]!;
    const key = { key: name, ...rest };
    const down = text === undefined ? { type: 'rawKeyDown' } : { type: 'keyDown', text };
    await this.#send('Input.dispatchKeyEvent', { ...key, ...down }, signal);
    await this.#send('Input.dispatchKeyEvent', { ...key, type: 'keyUp' }, signal);
  }

  /** Asks the page until it has an answer; throws why it has none when the time is over. */
  async until<T>(look: string, args: readonly unknown[], signal: AbortSignal): Promise<T> {
    let why = 'the page does not respond';
    for (;;) {
      const found = await this.#look(look, args, signal).catch((error: unknown) => {
        throw signal.aborted ? new StepError(why) : error;
      });
      if (typeof found['never'] === 'string') {
        throw new StepError(found['never']);
      }
      if ('ok' in found) {
        return found['ok'] as T;
      }
      why = typeof found['why'] === 'string' ? found['why'] : why;
      await this.#pause(lookMs, signal).catch(() => {
        throw new StepError(why);
      });
    }
  }

  /** Returns a picture of what is to be seen, as base64 of a JPEG; undefined if there can be none. */
  async picture(): Promise<string | undefined> {
    for (const quality of qualities) {
      const signal = AbortSignal.timeout(pictureMs);
      const how = { format: 'jpeg', quality, optimizeForSpeed: true };
      const { data } = await this.#send('Page.captureScreenshot', how, signal);
      if (typeof data === 'string' && data.length <= maxPicture) {
        return data;
      }
    }
    return undefined;
  }

  /** Asks the page once; nothing, while it is on its way to another one. */
  async #look(
    look: string,
    args: readonly unknown[],
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    try {
      this.#world ??= Number(
        (await this.#send('Page.createIsolatedWorld', { frameId: this.#frame }, signal))[
          'executionContextId'
        ],
      );
      const { result } = await this.#send(
        'Runtime.callFunctionOn',
        {
          functionDeclaration: look,
          executionContextId: this.#world,
          arguments: args.map((value) => ({ value })),
          returnByValue: true,
        },
        signal,
      );
      const value = isObject(result) ? result['value'] : undefined;
      return isObject(value) ? value : {};
    } catch (error) {
      if (!(error instanceof CommandError)) {
        throw error;
      }
      // The document is gone, and its world with it.
      this.#world = undefined;
      return {};
    }
  }

  async #send(method: string, params: object, signal: AbortSignal) {
    return await this.#tools.send(method, { ...params }, { session: this.#session, signal });
  }

  #answer({ method, params, sessionId: session }: BrowserEvent, credential: object): void {
    if (session !== this.#session) {
      return;
    }
    const { requestId, authChallenge, type } = params;
    const reply = (command: string, with_: object): void => {
      // The page may have gone on meanwhile, and the request with it.
      void this.#tools.send(command, { ...with_ }, { session }).catch(() => undefined);
    };
    if (method === 'Fetch.requestPaused') {
      reply('Fetch.continueRequest', { requestId });
    } else if (method === 'Fetch.authRequired') {
      const isOurs = isObject(authChallenge) && authChallenge['source'] === 'Proxy';
      const authChallengeResponse = isOurs
        ? { response: 'ProvideCredentials', ...credential }
        : { response: 'CancelAuth' };
      reply('Fetch.continueWithAuth', { requestId, authChallengeResponse });
    } else if (method === 'Page.javascriptDialogOpening') {
      reply('Page.handleJavaScriptDialog', { accept: type === 'beforeunload' });
    } else if (method === 'Inspector.targetCrashed') {
      this.#tools.end('the page crashed, perhaps because it needs more memory than it gets here');
    }
  }
}
