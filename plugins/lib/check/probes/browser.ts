import type { Browser } from '../browser/chromium.ts';
import {
  emptied,
  focused,
  hasText,
  loaded,
  pointOf,
  titleAndUrl,
  visible,
} from '../browser/in-page.ts';
import { Page, StepError } from '../browser/page.ts';
import { PlaceFault } from '../browser/place-fault.ts';
import type { Step, StepResult } from '../model/step.ts';
import { matchesGlob } from '../conditions/glob.ts';
import type { Facts, Order } from '../model/check.ts';
import { maskedTarget } from '../model/masked-target.ts';
import { plain } from '../model/plain-text.ts';
import type { Means } from '../wire/conversation.ts';
import { failureOf } from './failure.ts';

/** Longest time in which something that is expected may still come true. */
const expectMs = 5_000;
const [longestStep, longestCause] = [200, 400];

/** Opens the target in a browser, and takes the steps one after the other, until one fails. */
export async function probeBrowser(means: Means): Promise<Partial<Facts>> {
  const { order, place, browser, signal } = means;
  if (browser === undefined) {
    throw new PlaceFault('no browser runs here');
  }
  const page = await Page.open(browser, { insecure: order.insecure === true, signal });
  const visit = new Visit(page, browser, order, signal);
  const steps: readonly Step[] = [{ do: 'goto', value: order.target }, ...(order.steps ?? [])];
  const results: StepResult[] = [];
  let failure: string | undefined;
  // The time of the browser itself is not that of the target.
  const began = place.monotonic();
  for (const step of steps) {
    const text = visit.shown(textOf(step)).slice(0, longestStep);
    if (failure !== undefined) {
      results.push({ step: text, state: 'not_reached', took_ms: null });
      continue;
    }
    const from = place.monotonic();
    const why = await visit.take(step);
    const took = place.monotonic() - from;
    results.push({ step: text, state: why === undefined ? 'done' : 'failed', took_ms: took });
    failure = why && visit.shown(`step ${results.length} (${text}): ${why}`);
  }
  const tookMs = place.monotonic() - began;
  const picture = failure === undefined ? undefined : await visit.picture();
  const { status, url } = visit;
  return {
    connected: failure === undefined,
    error: failure?.slice(0, longestCause) ?? null,
    took_ms: tookMs,
    steps: results,
    ...(status > 0 && { status }),
    ...(url !== undefined && { final_url: visit.shown(url) }),
    ...(picture !== undefined && { picture }),
  };
}

/** One way through pages. */
class Visit {
  readonly #page: Page;
  readonly #browser: Browser;
  readonly #order: Order;
  readonly #signal: AbortSignal;
  /** Elements that hold a secret. */
  readonly #secret: string[] = [];
  status = 0;
  url: string | undefined;

  constructor(page: Page, browser: Browser, order: Order, signal: AbortSignal) {
    this.#page = page;
    this.#browser = browser;
    this.#order = order;
    this.#signal = signal;
  }

  /** Takes a step; returns why it failed. */
  async take(step: Step): Promise<string | undefined> {
    try {
      await this.#take(step);
      const { url } = await this.#page.until<Seen>(titleAndUrl, [], this.#signal);
      this.url = url;
      return undefined;
    } catch (error) {
      if (error instanceof StepError) {
        await this.#assertAllowed();
        return plain(error.message);
      }
      if (this.#signal.aborted) {
        return 'there was no more time';
      }
      throw error;
    }
  }

  /** Returns a text without what nobody may read. */
  shown(text: string): string {
    return Object.values(this.#order.secrets ?? {})
      .filter((secret) => secret !== '')
      .reduce((rest, secret) => rest.replaceAll(secret, '••••'), maskedTarget(plain(text)));
  }

  async picture(): Promise<string | undefined> {
    try {
      const signal = AbortSignal.timeout(expectMs);
      await this.#page.until(emptied, [this.#secret], signal);
      return await this.#page.picture();
    } catch (error) {
      if (error instanceof PlaceFault) {
        throw error;
      }
      // A page that hangs cannot be emptied, and a picture could show what was filled in.
      return undefined;
    }
  }

  async #take({ do: kind, selector = '', value = '', secret }: Step): Promise<void> {
    const [page, signal] = [this.#page, this.#signal];
    switch (kind) {
      case 'goto':
        return await this.#goTo(value);
      case 'click': {
        await this.#settled();
        return await page.click(await page.until(pointOf, [selector], signal), signal);
      }
      case 'fill': {
        await this.#settled();
        const text = secret === undefined ? value : this.#order.secrets![secret]!;
        void (secret !== undefined && this.#secret.push(selector));
        const how = await page.until<string>(focused, [selector, text], signal);
        return how === 'chosen' ? undefined : await page.type(text, signal);
      }
      case 'press': {
        await this.#settled();
        if (selector !== '') {
          await page.until(focused, [selector, ''], signal);
        }
        return await page.press(value, signal);
      }
      case 'wait_for_text':
        return void (await page.until(hasText, [value], signal));
      case 'wait_for_selector':
        return void (await page.until(visible, [selector], signal));
      case 'expect_text':
        return await this.#soon(async (soon) => void (await page.until(hasText, [value], soon)));
      case 'expect_url':
        return await this.#expect('url', value);
      case 'expect_title':
        return await this.#expect('title', value);
    }
  }

  async #goTo(text: string): Promise<void> {
    const trouble = await this.#page.goTo(text, this.#signal);
    if (trouble !== undefined) {
      throw new StepError(this.#troubleOf(new URL(text), trouble));
    }
    await this.#settled();
    if (this.status >= 400) {
      throw new StepError(`the server answers ${this.status}`);
    }
  }

  /** Waits until the page is whole: what handles a click may come with its last script. */
  async #settled(): Promise<void> {
    this.status = await this.#page.until<number>(loaded, [], this.#signal);
  }

  async #expect(what: keyof Seen, glob: string): Promise<void> {
    await this.#soon(async (soon) => {
      let found = 'nothing';
      while (!matchesGlob(glob, found)) {
        if (soon.aborted) {
          throw new StepError(`the ${what} is ${found}`);
        }
        found = (await this.#page.until<Seen>(titleAndUrl, [], soon))[what];
        await (matchesGlob(glob, found) || this.#browser.pause(100, soon).catch(() => undefined));
      }
    });
  }

  /** Throws if the page has led to an address that this place may not talk to. */
  async #assertAllowed(): Promise<void> {
    const { refusal } = this.#browser.proxy;
    if (refusal === undefined) {
      return;
    }
    const signal = AbortSignal.timeout(expectMs);
    const { url } = await this.#page.until<Seen>(titleAndUrl, [], signal);
    if (url.startsWith('chrome-error:')) {
      throw refusal;
    }
  }

  /** Gives something that should be true already a few seconds: the page may be on its way. */
  async #soon(work: (soon: AbortSignal) => Promise<void>): Promise<void> {
    const soon = new AbortController();
    const stop = (): void => soon.abort();
    this.#signal.addEventListener('abort', stop, { once: true });
    void this.#browser.pause(expectMs, soon.signal).then(stop, () => undefined);
    try {
      await work(soon.signal);
    } finally {
      this.#signal.removeEventListener('abort', stop);
      stop();
    }
  }

  /** Returns why a page did not come; throws if this place may not ask for it. */
  #troubleOf(url: URL, trouble: string): string {
    const port = url.port || (url.protocol === 'https:' ? '443' : '80');
    const host = url.hostname.replaceAll(/^\[|\]$/g, '');
    const failure = this.#browser.proxy.failureOf(`${host}:${port}`);
    if (failure instanceof PlaceFault) {
      throw failure;
    }
    return failure === undefined
      ? trouble.replace(/^net::/, '')
      : failureOf(failure, this.#signal, this.#order.timeout_ms);
  }
}

interface Seen {
  readonly title: string;
  readonly url: string;
}

const textOf = ({ do: kind, selector, value, secret }: Step): string =>
  [
    kind.replaceAll('_', ' '),
    selector,
    value,
    secret === undefined ? undefined : `the secret ${secret}`,
  ]
    .filter((part) => part !== undefined)
    .join(' ');
