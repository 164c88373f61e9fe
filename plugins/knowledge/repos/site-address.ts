import { docPath } from '../documents/doc-path.ts';
import { errors } from './errors.ts';

/** Parses the address of a website or of its sitemap; throws with what is wrong. */
export function parseSiteUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const problem =
    url === undefined || !/^https?:$/.test(url.protocol)
      ? 'must begin with https:// or http://'
      : url.username !== '' || url.password !== ''
        ? 'contains a user name or a password; only public pages can be read'
        : undefined;
  if (problem !== undefined) {
    throw errors.site_address({ problem }, { details: [{ path: '/url', message: problem }] });
  }
  url!.hash = '';
  return url!;
}

/** Returns the path of a page's document below its mount; undefined if it can have none. */
export function pathOfPage(url: URL): string | undefined {
  try {
    const plain = decodeURIComponent(url.pathname)
      .replace(/\.(?:html?|php|aspx?|md)$/i, '')
      .split('/')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .join('/');
    const query = url.search === '' ? '' : ` ${url.search.slice(1).replaceAll('/', '-')}`;
    return docPath(`${plain === '' ? 'index' : plain}${query}.md`);
  } catch {
    // It decodes to no text, or is no path that a document can have.
    return undefined;
  }
}
