import type { Schema } from './named-schemas.ts';
import type { OpenApiDocument, Operation, Parameter } from './openapi.ts';
import { commentText, keyText, typeText } from './typescript-shape.ts';

/**
 * Renders the document as one TypeScript file: a type for each shape, a method for each operation,
 * no dependencies.
 */
export function typescriptClient({ info, paths, components }: OpenApiDocument): string {
  const shapes = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeText(schema)};`,
  );
  const methods = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      '101' in operation.responses ? [] : [methodText(method, path, operation)],
    ),
  );
  return `// ${info.title} ${info.version}: its API for TypeScript and Node 20 or a browser, made by the service from what it serves.\n\n${shapes.join('\n\n')}\n\n${base}\n${methods.join('\n\n')}\n}\n`;
}

/** Renders one operation; an answer that is neither JSON nor empty is returned as the response. */
function methodText(method: string, path: string, operation: Operation): string {
  const { operationId, summary, parameters, requestBody, responses } = operation;
  const answer = answerOf(responses);
  const body = Object.entries(requestBody?.content ?? {})[0];
  const fields = [
    ...parameters
      .filter(({ in: place }) => place === 'path')
      .map(({ name, schema }) => `${keyText(name)}: ${typeText(schema)}`),
    ...fieldOf('query', parameters),
    ...fieldOf('headers', parameters),
    ...(body === undefined
      ? []
      : [body[0] === json ? `body: ${typeText(body[1].schema, '  ')}` : 'body: BodyInit']),
  ];
  const needed = fields.some((field) => !/^\w+\?:/.test(field));
  const input =
    fields.length === 0 ? '' : `asked: { ${fields.join('; ')} }${needed ? '' : ' = {}'}, `;
  const place = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => `\${part(asked${access(name)})}`,
  );
  const sent = [
    ...parts
      .filter((part) => of(part, parameters).length > 0)
      .map((part) => `${part}: asked.${part}`),
    ...(body === undefined ? [] : [`body: asked.body, type: ${JSON.stringify(body[0])}`]),
  ];
  return `  /** ${commentText(summary)} */
  ${operationId}(${input}signal?: AbortSignal): Promise<${answer ?? 'Response'}> {
    return this.${answer === undefined ? 'response' : 'json'}('${method.toUpperCase()}', \`${place}\`, { ${[...sent, 'signal'].join(', ')} });
  }`;
}

const parts = ['query', 'headers'] as const;

const of = (part: (typeof parts)[number], parameters: readonly Parameter[]): readonly Parameter[] =>
  parameters.filter(({ in: place }) => place === (part === 'query' ? 'query' : 'header'));

function fieldOf(part: (typeof parts)[number], all: readonly Parameter[]): readonly string[] {
  const parameters = of(part, all);
  if (parameters.length === 0) {
    return [];
  }
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  const properties = Object.fromEntries(
    parameters.map(({ name, schema, description }) => [
      name,
      { ...schema, ...(description && { description }) },
    ]),
  );
  return [
    `${part}${required.length > 0 ? '' : '?'}: ${typeText({ type: 'object', properties, required }, '  ')}`,
  ];
}

/** The type of a JSON answer, `void` of one without a body; undefined where it is other bytes. */
function answerOf(responses: Operation['responses']): string | undefined {
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2')) as readonly [
    string,
    { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> },
  ][];
  const bodies = good.flatMap(([, { content }]) => (content === undefined ? [] : [content]));
  if (bodies.length === 0) {
    return 'void';
  }
  const schema = bodies[0]![json]?.schema;
  return schema === undefined ||
    Object.keys(schema).length === 0 ||
    Object.keys(bodies[0]!).length > 1
    ? undefined
    : `${typeText(schema, '  ')}${bodies.length < good.length ? ' | undefined' : ''}`;
}

const json = 'application/json';

const access = (name: string): string =>
  /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;

const base = `/** A refusal: its code, and where it is about fields, which. */
export class SvcFailure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: readonly { path: string; message: string }[] = [],
  ) {
    super(message);
  }
}

interface Sent {
  readonly query?: object | undefined;
  readonly headers?: object | undefined;
  readonly body?: unknown;
  readonly type?: string;
  readonly signal?: AbortSignal | undefined;
}

const part = (value: unknown): string => encodeURIComponent(String(value));

export class Svc {
  constructor(
    readonly url: string,
    readonly token?: string,
  ) {}

  /** The answer as it came; throws a SvcFailure for a refusal. */
  async response(method: string, path: string, { query = {}, headers: asked = {}, body, type, signal }: Sent = {}): Promise<Response> {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      for (const one of Array.isArray(value) ? value : value === undefined ? [] : [value]) {
        search.append(name, String(one));
      }
    }
    const headers: Record<string, string> = {
      ...asked,
      ...(this.token === undefined ? {} : { authorization: \`Bearer \${this.token}\` }),
      ...(type === undefined || body === undefined ? {} : { 'content-type': type }),
    };
    const sent = body === undefined ? {} : { body: type === 'application/json' ? JSON.stringify(body) : (body as BodyInit) };
    const answer = await fetch(\`\${this.url.replace(/\\/$/, '')}\${path}\${search.size === 0 ? '' : \`?\${search}\`}\`, {
      method,
      headers,
      ...sent,
      ...(signal === undefined ? {} : { signal }),
    });
    if (answer.ok) {
      return answer;
    }
    const text = await answer.text();
    const said = answer.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : {};
    throw new SvcFailure(answer.status, String(said.error ?? answer.status), String(said.message ?? said.error ?? text), said.details);
  }

  async json<T>(method: string, path: string, sent: Sent = {}): Promise<T> {
    const answer = await this.response(method, path, sent);
    const text = await answer.text();
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }
`;
