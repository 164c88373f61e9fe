import { unescaped } from '../uploads/html-pieces.ts';

/** Page in a sitemap. */
export interface SitePage {
  readonly url: string;
  /** Time of its last change as the site writes it; empty if it does not. */
  readonly changed: string;
}

/** Pages of a sitemap, or the sitemaps that an index lists. */
export interface Sitemap {
  readonly pages: readonly SitePage[];
  readonly sitemaps: readonly string[];
}

const maxUrl = 2_000;

/** Reads up to `most` entries of a sitemap as sitemaps.org has it. */
export function sitemapOf(xml: string, most: number): Sitemap {
  const isIndex = /<sitemapindex[\s>]/i.test(xml.slice(0, 4_096));
  const entry = isIndex ? /<sitemap>([^]{0,8000}?)<\/sitemap>/gi : /<url>([^]{0,8000}?)<\/url>/gi;
  const found: SitePage[] = [];
  for (
    let match = entry.exec(xml);
    match !== null && found.length < most;
    match = entry.exec(xml)
  ) {
    const url = valueOf(match[1]!, 'loc');
    if (url !== '' && url.length <= maxUrl) {
      found.push({ url, changed: valueOf(match[1]!, 'lastmod').slice(0, 40) });
    }
  }
  return isIndex
    ? { pages: [], sitemaps: found.map(({ url }) => url) }
    : { pages: found, sitemaps: [] };
}

const fields = { loc: /<loc>([^<]*)<\/loc>/i, lastmod: /<lastmod>([^<]*)<\/lastmod>/i };

const valueOf = (entry: string, name: keyof typeof fields): string =>
  unescaped(fields[name].exec(entry)?.[1] ?? '').trim();
