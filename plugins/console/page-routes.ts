import { byteRoute, type Call, route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import type { Assets } from './assets.ts';
import { errors } from './errors.ts';
import { drawIcon } from './icon.ts';
import type { Languages } from './languages.ts';

/**
 * Content security policy: nothing inline, nothing external, never in a frame; foreign text can
 * become neither script nor style.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/**
 * Every address of the page answers with the same document; which page it shows is found out in the browser. `root` leads back from there,
 * so that the page finds its files below whatever path a proxy has put in front.
 */
const addresses = [
  { path: '/', root: '' },
  // As people shorten an address by hand: the overview, too.
  { path: '/ui', root: '' },
  { path: '/ui/', root: '../' },
  { path: '/ui/{page}', root: '../' },
  { path: '/ui/{page}/{item}', root: '../../' },
  { path: '/ui/{page}/{item}/{part}', root: '../../../' },
];

const icon = drawIcon();

/** Query of a page, which the browser reads as well. */
const ForThePage = Type.Object({}, { additionalProperties: true });

export interface Start {
  /** True while the first administrator has yet to be created. */
  readonly setup: boolean;
  readonly registration: boolean;
}

export const pageRoutes = (
  assets: Assets,
  start: () => Start,
  languages: Languages,
): readonly RouteDeclaration[] => [
  ...addresses.map(({ path, root }) =>
    byteRoute({
      method: 'GET',
      path,
      access: 'public',
      summary: 'Console page',
      query: ForThePage,
      produces: 'text/html; charset=utf-8',
      handle(call) {
        call.setHeader('content-security-policy', policy);
        call.setHeader('cache-control', 'no-cache');
        return documentOf(assets, root);
      },
    }),
  ),
  byteRoute({
    method: 'GET',
    path: '/ui/assets/{file}',
    access: 'public',
    summary: 'Get a console asset by content hash',
    produces: 'application/octet-stream',
    errors: ['not_found'],
    handle: (call) => sent(call, assets),
  }),
  byteRoute({
    method: 'GET',
    path: '/favicon.ico',
    access: 'public',
    summary: 'Favicon',
    produces: 'image/x-icon',
    handle(call) {
      call.setHeader('cache-control', 'public, max-age=86400');
      return icon;
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/console/start',
    access: 'public',
    summary: 'Get the sign-in options, for visitors without a session',
    response: Type.Object({
      setup: Type.Boolean({
        description: 'true until the first administrator is created with the setup link',
      }),
      registration: Type.Boolean({ description: 'true if visitors may register' }),
    }),
    handle: () => start(),
  }),
  route({
    method: 'GET',
    path: '/api/v1/console/languages/{tag}',
    access: 'public',
    summary: 'Get a translation of the console',
    params: Type.Object({ tag: Type.String({ maxLength: 30 }) }),
    response: Type.Object({
      texts: Type.Record(Type.String(), Type.Record(Type.String(), Type.String())),
    }),
    errors: ['not_found'],
    handle({ params: { tag } }) {
      const texts = languages.texts(tag);
      if (texts === undefined) {
        throw errors.no_language({ tag });
      }
      return { texts };
    },
  }),
];

function sent(call: Call, assets: Assets): Uint8Array {
  const { file } = call.params as { file: string };
  const found = assets.find(file, call.headers['accept-encoding']);
  if (!found) {
    throw errors.no_file({ file });
  }
  call.setHeader('content-type', found.type);
  call.setHeader('cache-control', 'public, max-age=31536000, immutable');
  call.setHeader('vary', 'accept-encoding');
  if (found.coding !== undefined) {
    call.setHeader('content-encoding', found.coding);
  }
  return found.bytes;
}

const documentOf = ({ page: { entry, style } }: Assets, root: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>svc</title>
<link rel="icon" href="data:,">
${style === undefined ? '' : `<link rel="stylesheet" href="${root}ui/assets/${style}">\n`}<script type="module" src="${root}ui/assets/${entry}"></script>
</head>
<body><div id="page"></div><noscript>The console needs JavaScript; without it: svc help</noscript></body>
</html>
`;
