import {
  isCallExpression,
  isIdentifier,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isStringLiteralLikeNode,
  isTemplateHead,
  isTemplateMiddleOrTail,
} from 'typescript/unstable/ast/is';
import type { CallExpression, Node } from 'typescript/unstable/ast';

import { type Parsed, placeOf, walk } from './syntax.ts';

/** Where people read a text: on a page, in `svc help`, in the API document, in the log, in a refusal. */
export type Medium = 'console' | 'command' | 'api' | 'log' | 'error';

export interface Said {
  readonly medium: Medium;
  readonly place: string;
  readonly text: string;
}

const levels = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);
const described = new Set([
  'about',
  'description',
  'empty',
  'hint',
  'summary',
  'title',
  'usage',
  'warning',
]);

/** Returns every text of a file that the product says, found by the calls and properties that carry one. */
export function saidIn(source: Parsed): Said[] {
  const found: Said[] = [];
  walk(source.file, (node, parents) => {
    const text = textOf(node);
    const medium = text === undefined ? undefined : mediumOf(source.path, [...parents, node]);
    if (medium !== undefined) {
      found.push({ medium, place: placeOf(source, node), text: text! });
    }
  });
  return found;
}

/** Returns the texts of a manifest: those of its commands, and what the page of plugins and of rights shows. */
export function saidInManifest(path: string, manifest: Readonly<Record<string, unknown>>): Said[] {
  const { contributes, actions, ...own } = manifest;
  return [
    ...textsOf(contributes, `${path} contributes`, 'command'),
    ...textsOf(own, path, 'api'),
    ...Object.entries(actions ?? {}).map(([action, text]) => ({
      medium: 'api' as const,
      place: `${path} ${action}`,
      text: String(text),
    })),
  ];
}

const textsOf = (value: unknown, place: string, medium: Medium): Said[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) =>
        typeof inner === 'string' && described.has(key)
          ? [{ medium, place: `${place}.${key}`, text: inner }]
          : textsOf(inner, `${place}.${key}`, medium),
      )
    : [];

const textOf = (node: Node): string | undefined =>
  isStringLiteralLikeNode(node) || isTemplateHead(node) || isTemplateMiddleOrTail(node)
    ? node.text
    : undefined;

/** Undefined where the literal is a name, a key or code. */
function mediumOf(path: string, nodes: readonly Node[]): Medium | undefined {
  const at = nodes.findLastIndex((node) => isCallExpression(node) || isDescription(node));
  const carrier = nodes[at];
  if (carrier === undefined) {
    return undefined;
  }
  if (!isCallExpression(carrier)) {
    return /(?:^bin|\/cli)\//.test(path) ? 'command' : 'api';
  }
  // The first argument names the area or carries the fields; only what follows is a text.
  const isText = carrier.arguments.indexOf(nodes[at + 1] as never) > 0;
  return isText ? mediumOfCall(carrier) : undefined;
}

function mediumOfCall({ expression }: CallExpression): Medium | undefined {
  if (isIdentifier(expression)) {
    return expression.text === 'words'
      ? 'console'
      : expression.text === 'defineErrors'
        ? 'error'
        : undefined;
  }
  const isLine =
    isPropertyAccessExpression(expression) &&
    levels.has(expression.name.text) &&
    /\blog(?:ger)?\??$/.test(expression.expression.getText());
  return isLine ? 'log' : undefined;
}

const isDescription = (node: Node): boolean =>
  isPropertyAssignment(node) && isIdentifier(node.name) && described.has(node.name.text);
