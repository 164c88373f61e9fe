import { createHash } from 'node:crypto';

import {
  Banner,
  type Build,
  BuildInfo,
  byteRoute,
  Catalogue,
  definePlugin,
  type DescribedRoute,
  type DeclaredCatalogue,
  type RouteDeclaration,
} from 'svc/sdk';

import { docsPage, docsStyle } from './docs-page.ts';
import { errorsPage } from './errors-page.ts';
import { openApi, type OpenApiDocument } from './openapi.ts';
import { typescriptClient } from './typescript-client.ts';

export default definePlugin({
  activate(ctx) {
    ctx.http.routes(docRoutes(ctx.services.use(Catalogue), ctx.services.use(BuildInfo)));
    ctx.extend.contribute(Banner, 'api-docs', { line: (url) => `API      ${url}/api/docs` });
  },
});

function docRoutes(catalogue: DeclaredCatalogue, build: Build): readonly RouteDeclaration[] {
  // The catalogue answers with the same list until anything is published.
  const documents = new WeakMap<readonly DescribedRoute[], OpenApiDocument>();
  const document = (): OpenApiDocument => {
    const declarations = catalogue.declarations();
    const made =
      documents.get(declarations) ?? openApi(declarations, build.version, build.publicUrl || '/');
    documents.set(declarations, made);
    return made;
  };
  return [
    byteRoute({
      method: 'GET',
      path: '/api/v1/openapi.json',
      access: 'any',
      devices: 'none',
      summary: 'Get this API as an OpenAPI 3.1 document',
      produces: 'application/json; charset=utf-8',
      handle: () => JSON.stringify(document()),
    }),
    byteRoute({
      method: 'GET',
      path: '/api/v1/client.ts',
      access: 'any',
      devices: 'none',
      summary: 'Get a TypeScript client for this API, without dependencies',
      produces: 'text/plain; charset=utf-8',
      handle: () => typescriptClient(document()),
    }),
    byteRoute({
      method: 'GET',
      path: '/api/docs',
      access: 'public',
      summary: 'Show this API as a web page',
      produces: 'text/html; charset=utf-8',
      handle(call) {
        call.setHeader('content-security-policy', docsPolicy);
        return docsPage(document());
      },
    }),
    byteRoute({
      method: 'GET',
      path: '/docs/errors',
      access: 'public',
      summary: 'List the errors that svc and its plugins return, by reason',
      produces: 'text/html; charset=utf-8',
      handle(call) {
        call.setHeader('content-security-policy', docsPolicy);
        return errorsPage(catalogue.errors());
      },
    }),
  ];
}

/** The page brings its one style sheet with it and may load nothing else. */
const docsPolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(docsStyle).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
