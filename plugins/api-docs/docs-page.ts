import { escapedHtml } from 'svc/template';

import { exampleAddress } from './examples.ts';
import type { OpenApiDocument, Operation, Parameter } from './openapi.ts';

export const docsStyle = `
:root{color-scheme:light dark;--line:color-mix(in srgb,currentColor 15%,transparent)}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}
details{border:1px solid var(--line);border-radius:.4rem;margin:.5rem 0;padding:.4rem .8rem}
summary{cursor:pointer}summary span{opacity:.75}
code,pre{font:13px/1.45 ui-monospace,monospace}pre{overflow:auto;padding:.6rem;background:color-mix(in srgb,currentColor 6%,transparent)}
b.method{display:inline-block;min-width:4.2rem}table{border-collapse:collapse}td,th{text-align:left;padding:.15rem 1rem .15rem 0;vertical-align:top}
`;

/**
 * Renders the document as one page that needs neither script nor network; everything in it is
 * escaped.
 */
export function docsPage(document: OpenApiDocument): string {
  const sections = grouped(operations(document));
  const names = [...sections.keys()].sort();
  const contents = names
    .map((name) => `<a href="#${escapedHtml(name)}">${escapedHtml(name)}</a>`)
    .join(' · ');
  const body = names
    .map(
      (name) =>
        `<h2 id="${escapedHtml(name)}">${escapedHtml(name)}</h2>\n${sections
          .get(name)!
          .map((entry) => operationText(entry, document))
          .join('\n')}`,
    )
    .join('\n');
  const shapes = Object.entries(document.components.schemas).map(shapeText).join('\n');
  const { title, version } = document.info;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapedHtml(title)} API ${escapedHtml(version)}</title><style>${docsStyle}</style></head>
<body><h1>${escapedHtml(title)} API <small>${escapedHtml(version)}</small></h1>
<p>The same as a document for tools: <code>/api/v1/openapi.json</code>. Send <code>Authorization: Bearer …</code> wherever access is not public.</p>
<p>${contents}</p>
${body}
<h2 id="shapes">shapes</h2>
${shapes}
</body></html>
`;
}

interface PathOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

function operations({ paths }: OpenApiDocument): readonly PathOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

function grouped(entries: readonly PathOperation[]): Map<string, PathOperation[]> {
  const groups = new Map<string, PathOperation[]>();
  for (const entry of entries) {
    const tag = entry.operation.tags[0]!;
    groups.set(tag, [...(groups.get(tag) ?? []), entry]);
  }
  return groups;
}

function operationText(
  { path, method, operation }: PathOperation,
  { components, servers, paths }: OpenApiDocument,
): string {
  const hasConsole = '/ui/{page}' in paths;
  const access = operation['x-svc-access'];
  const who =
    typeof access === 'object'
      ? `${access.action}, or ${'self' in access ? `{${access.self}} itself` : 'people' in access ? 'a person who is signed in' : 'an edge'}`
      : access;
  const body = Object.entries(operation.requestBody?.content ?? {})[0];
  const answers = Object.entries(operation.responses).map(([status, response]) => {
    const { description } = (components.responses[nameIn(response)] ?? response) as {
      description: string;
    };
    return `<tr><td>${status}</td><td>${escapedHtml(description)}</td></tr>`;
  });
  return `<details><summary><b class="method">${method.toUpperCase()}</b> <code>${escapedHtml(path)}</code> <span>${escapedHtml(operation.summary)}</span></summary>
${operation.description === undefined ? '' : `<p>${escapedHtml(operation.description)}</p>`}
<p>Access: <code>${escapedHtml(who)}</code> · plugin <code>${escapedHtml(operation['x-svc-plugin'])}</code></p>
<pre>${escapedHtml(curlLine(method, path, operation, servers[0]!.url))}</pre>
${hasConsole && !('101' in operation.responses) ? `<p><a href="../ui/api/${operation.operationId}">Try it in the console</a></p>\n` : ''}${operation.parameters.length === 0 ? '' : `<table>${operation.parameters.map(parameterText).join('')}</table>`}
${body === undefined ? '' : `<p>Body, <code>${escapedHtml(body[0])}</code>:</p>${schemaText(body[1].schema)}`}
<table>${answers.join('')}</table>${answerShape(operation)}</details>`;
}

/** The example of an operation, as a terminal takes it. */
function curlLine(
  method: string,
  path: string,
  { security, requestBody, parameters }: Operation,
  url: string,
): string {
  const [type, sent] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return [
    ...['curl', ...(method === 'get' ? [] : ['-X', method.toUpperCase()])],
    ...(security.length === 0 ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(type === undefined ? [] : [`-H 'Content-Type: ${type}'`]),
    ...(sent === undefined
      ? []
      : [
          sent.example === undefined
            ? '--data @body'
            : `--data ${quoted(JSON.stringify(sent.example))}`,
        ]),
    quoted(
      `${url === '/' ? 'http://127.0.0.1:8080' : url.replace(/\/$/, '')}${exampleAddress(path, parameters)}`,
    ),
  ].join(' ');
}

/** One word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Returns the last part of a reference; empty if it is none. */
const nameIn = (shape: object): string =>
  '$ref' in shape ? String(shape.$ref).split('/').at(-1)! : '';

const shapeText = ([name, schema]: readonly [string, object]): string =>
  `<details id="shape-${escapedHtml(name)}"><summary><code>${escapedHtml(name)}</code></summary>${schemaText(schema)}</details>`;

/** A schema as text in which each name leads to its shape. */
function schemaText(schema: object): string {
  const text = escapedHtml(JSON.stringify(schema, null, 2));
  return `<pre>${text.replace(/&quot;#\/components\/schemas\/(\w+)&quot;/g, '<a href="#shape-$1">$1</a>')}</pre>`;
}

function parameterText({ name, in: place, required, schema, description }: Parameter): string {
  const type = JSON.stringify(schema.enum ?? schema.type ?? schema.anyOf ?? 'any');
  return `<tr><td><code>${escapedHtml(name)}</code></td><td>${place}${required ? ', required' : ''}</td><td><code>${escapedHtml(type)}</code></td><td>${escapedHtml(description ?? '')}</td></tr>`;
}

function answerShape({ responses }: Operation): string {
  const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const schema = (answer as { content?: Record<string, { schema?: object }> })?.content?.[
    'application/json'
  ]?.schema;
  return schema === undefined ? '' : `<p>Answer:</p>${schemaText(schema)}`;
}
