import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { isSvcError, messageOf, type OutboundReply, type PluginContext } from 'svc/sdk';

import type { DocRow, RepoRow } from '../documents/tables.ts';
import type { RepoDocs } from '../repos/repo-docs.ts';
import type { SyncProgress, SyncResult } from '../repos/repo-sync.ts';
import { SyncTrouble } from '../repos/sync-trouble.ts';
import { Skips } from '../repos/tree-listing.ts';
import type { HtmlText } from '../uploads/html.ts';
import { type Robots, robotsOf } from './robots.ts';
import { parseSiteUrl, pathOfPage } from '../repos/site-address.ts';
import { type SitePage, sitemapOf } from './sitemap.ts';

export interface SiteSyncParts {
  readonly fetch: PluginContext['fetch'];
  /** Converts pages off the request thread. */
  readonly convert: (pages: readonly string[], signal: AbortSignal) => Promise<readonly HtmlText[]>;
  readonly docs: RepoDocs;
  readonly progress: (progress: SyncProgress) => void;
  readonly signal: AbortSignal;
  /** Waits so many milliseconds, or until the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

interface Wanted {
  readonly url: URL;
  readonly path: string;
  readonly changed: string;
}

const maxPages = 1_000;
const maxSitemaps = 50;
const maxSitemapBytes = 2 * 1024 * 1024;
const maxPageBytes = 2 * 1024 * 1024;
const maxRobotsBytes = 500 * 1024;
const maxMoves = 3;
const callMs = 20_000;
const atOnce = 10;
const usualPauseMs = 250;
/** Share of pages that may fail before the site counts as unreachable. */
const mostFailed = 0.5;

/**
 * Reads the pages that a site's sitemap lists: of its own host alone, as its robots.txt allows, one
 * after another. A page that cannot be read keeps its document; one that is no longer listed loses
 * it.
 */
export async function syncSite(repo: RepoRow, parts: SiteSyncParts): Promise<SyncResult> {
  const { docs, progress, signal } = parts;
  const base = parseSiteUrl(repo.url);
  const skips = new Skips();
  progress({ phase: 'asking', done: 0, total: 0 });
  const reader = new SiteReader(base, parts);
  const robots = await reader.robots();
  const listed = await reader.pages(robots);
  const wanted = wantedOf(listed, base, robots, skips);
  if (wanted.length === 0) {
    throw new SyncTrouble('no_pages');
  }
  const known = await docs.of(repo);
  const digests: string[] = [];
  const counts = { added: 0, changed: 0, unchanged: 0, failed: 0 };
  for (let at = 0; at < wanted.length; at += atOnce) {
    signal.throwIfAborted();
    progress({ phase: 'reading', done: at, total: wanted.length });
    const part = wanted.slice(at, at + atOnce);
    await readPart(repo, part, { reader, known, skips, counts, digests }, parts);
  }
  if (counts.failed > wanted.length * mostFailed) {
    throw new SyncTrouble('unreachable', `${counts.failed} of ${wanted.length} pages failed`);
  }
  const paths = new Set(wanted.map(({ path }) => `${repo.mount}/${path}`));
  const removed = [...known].filter(([path]) => !paths.has(path)).map(([, doc]) => doc);
  progress({ phase: 'removing', done: 0, total: removed.length });
  await docs.remove(removed);
  const commit = sha(digests.toSorted().join('\n'));
  return {
    commit,
    history: repo.last_commit === null ? 'first' : repo.last_commit === commit ? 'same' : 'forward',
    added: counts.added,
    changed: counts.changed,
    moved: 0,
    removed: removed.length,
    unchanged: counts.unchanged,
    skipped: skips.shown.counts,
    samples: skips.shown.samples,
  };
}

interface Reading {
  readonly reader: SiteReader;
  readonly known: ReadonlyMap<string, DocRow>;
  readonly skips: Skips;
  readonly counts: { added: number; changed: number; unchanged: number; failed: number };
  readonly digests: string[];
}

/** Fetches a few pages, converts them together, and stores those that have changed. */
async function readPart(
  repo: RepoRow,
  part: readonly Wanted[],
  { reader, known, skips, counts, digests }: Reading,
  { convert, docs, signal }: SiteSyncParts,
): Promise<void> {
  const read: { readonly page: Wanted; readonly html: string }[] = [];
  for (const page of part) {
    const doc = known.get(`${repo.mount}/${page.path}`);
    const mark = doc?.origin_digest ?? '';
    if (page.changed !== '' && mark.startsWith(`${page.changed} `)) {
      counts.unchanged += 1;
      digests.push(mark);
      continue;
    }
    const html = await reader.page(page.url);
    if (html === undefined) {
      counts.failed += 1;
      skips.add('missing', page.path);
    } else if (/<meta\b[^>]{0,200}\bnoindex\b/i.test(html.slice(0, 64 * 1024))) {
      skips.add('robots', page.path);
    } else {
      read.push({ page, html });
    }
  }
  if (read.length === 0) {
    return;
  }
  const texts = await convert(
    read.map(({ html }) => html),
    signal,
  );
  const files = read.flatMap(({ page }, index) => {
    const { title, text } = texts[index] ?? { title: '', text: '' };
    if (text.trim() === '') {
      skips.add('not_text', page.path);
      return [];
    }
    const heading = /^#\s/m.test(text) || title === '' ? '' : `# ${title}\n\n`;
    const content = `${heading}${text}\n\nSource: ${page.url.href}\n`;
    const oid = `${page.changed} ${sha(content)}`;
    digests.push(oid);
    const doc = known.get(`${repo.mount}/${page.path}`);
    if (doc?.origin_digest?.endsWith(sha(content)) === true) {
      counts.unchanged += 1;
      return [];
    }
    counts.changed += doc === undefined ? 0 : 1;
    const bytes = Buffer.from(content);
    return [{ file: { path: page.path, oid, size: bytes.length }, doc, bytes }];
  });
  counts.added += await docs.put(repo, files, new URL(repo.url).host, skips);
}

/** Pages of the same host that robots may fetch, each path once. */
function wantedOf(
  pages: readonly SitePage[],
  base: URL,
  robots: Robots,
  skips: Skips,
): readonly Wanted[] {
  const wanted = new Map<string, Wanted>();
  for (const { url: text, changed } of pages) {
    const url = URL.canParse(text, base.href) ? new URL(text, base.href) : undefined;
    if (url === undefined || url.host !== base.host || !/^https?:$/.test(url.protocol)) {
      skips.add('other_host', text);
      continue;
    }
    url.hash = '';
    const path = pathOfPage(url);
    if (path === undefined) {
      skips.add('bad_path', url.pathname);
    } else if (!robots.allows(`${url.pathname}${url.search}`)) {
      skips.add('robots', path);
    } else if (!wanted.has(path)) {
      wanted.set(path, { url, path, changed });
    }
  }
  return [...wanted.values()].slice(0, maxPages);
}

/** Requests to one host, one after another. */
class SiteReader {
  readonly #base: URL;
  readonly #parts: SiteSyncParts;
  /** Least pause between two requests; the site may ask for a longer one. */
  #pauseMs = usualPauseMs;
  #isFirst = true;

  constructor(base: URL, parts: SiteSyncParts) {
    this.#base = base;
    this.#parts = parts;
  }

  /** A site without a robots.txt allows everything; one that fails to serve it allows nothing. */
  async robots(): Promise<Robots> {
    const reply = await this.#get(new URL('/robots.txt', this.#base), maxRobotsBytes);
    if (reply.status >= 500) {
      throw new SyncTrouble('server_failed', `robots.txt: status ${reply.status}`);
    }
    const robots = robotsOf(reply.status === 200 ? textIn(reply.body) : '');
    this.#pauseMs = Math.max(this.#pauseMs, robots.delayMs);
    return robots;
  }

  /** The pages of the given sitemap, or of those that the site names itself. */
  async pages(robots: Robots): Promise<readonly SitePage[]> {
    const isSitemap = /\.xml(?:\.gz)?$/i.test(this.#base.pathname);
    const named = robots.sitemaps.length > 0 ? robots.sitemaps : ['/sitemap.xml'];
    const queue = isSitemap ? [this.#base.href] : [...named];
    const pages: SitePage[] = [];
    const seen = new Set<string>();
    while (queue.length > 0 && seen.size < maxSitemaps && pages.length < maxPages) {
      const next = queue.shift()!;
      const url = URL.canParse(next, this.#base.href) ? new URL(next, this.#base.href) : undefined;
      if (url === undefined || url.host !== this.#base.host || seen.has(url.href)) {
        continue;
      }
      seen.add(url.href);
      const reply = await this.#get(url, maxSitemapBytes);
      if (reply.status === 200) {
        const found = sitemapOf(textIn(await unpacked(reply.body)), maxPages - pages.length);
        pages.push(...found.pages);
        queue.push(...found.sitemaps);
      } else if (isSitemap && seen.size === 1) {
        throw new SyncTrouble('no_pages', `status ${reply.status}`);
      }
    }
    return pages;
  }

  /** Returns the page; undefined if it cannot be had now, or is no HTML. */
  async page(url: URL): Promise<string | undefined> {
    try {
      let at = url;
      for (let moves = 0; moves <= maxMoves; moves++) {
        const { status, headers, body } = await this.#get(at, maxPageBytes);
        const location = headers['location'];
        if (status === 200) {
          return /^(?:text\/html|application\/xhtml\+xml)\b/i.test(headers['content-type'] ?? '')
            ? textIn(body)
            : undefined;
        }
        if (status < 300 || status >= 400 || location === undefined) {
          return undefined;
        }
        at = new URL(location, at);
        if (at.host !== this.#base.host) {
          return undefined;
        }
      }
    } catch (error) {
      this.#parts.signal.throwIfAborted();
      if (!isSvcError(error)) {
        throw error;
      }
    }
    return undefined;
  }

  async #get(url: URL, maxBytes: number): Promise<OutboundReply> {
    const { fetch, pause, signal } = this.#parts;
    if (!this.#isFirst) {
      await pause(this.#pauseMs, signal);
      signal.throwIfAborted();
    }
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    try {
      return await fetch(url.href, {
        headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.1' },
        timeoutMs: callMs,
        maxBytes,
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      if (isFirst && isSvcError(error)) {
        const isRefused = error.code === 'forbidden' || error.code === 'invalid_argument';
        throw new SyncTrouble(isRefused ? 'address_refused' : 'unreachable', messageOf(error), {
          cause: error,
        });
      }
      throw error;
    }
  }
}

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
const textIn = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
const inflate = promisify(gunzip);

async function unpacked(body: Uint8Array): Promise<Uint8Array> {
  if (body[0] !== 0x1f || body[1] !== 0x8b) {
    return body;
  }
  try {
    return await inflate(body, { maxOutputLength: maxSitemapBytes });
  } catch (error) {
    throw new SyncTrouble('damaged', 'the packed sitemap cannot be unpacked', { cause: error });
  }
}
