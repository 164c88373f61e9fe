import {
  isBinaryExpression,
  isConditionalExpression,
  isImportDeclaration,
  isJsxAttribute,
  isJsxElement,
  isJsxExpression,
  isJsxText,
  isLiteralTypeNode,
  isParenthesizedExpression,
  isStringLiteralLikeNode,
  isTemplateExpression,
  isTemplateHead,
  isTemplateMiddleOrTail,
  isTemplateSpan,
} from 'typescript/unstable/ast/is';
import { type Node, SyntaxKind } from 'typescript/unstable/ast';

import { type Parsed, placeOf, walk } from './syntax.ts';

/** Attributes and properties of components that a reader sees or hears. */
const readAttributes = new Set([
  'alt',
  'aria-description',
  'aria-label',
  'aria-valuetext',
  'hint',
  'label',
  'note',
  'placeholder',
  'submit',
  'title',
]);

/** Names that are the same in every language. */
const names = new Set(['svc', 'English', 'Bearer', 'Enter', 'Esc', 'Escape', 'Tab', 'Ctrl K']);

const hasWord = (text: string): boolean => /\p{L}{2}/u.test(text) && !names.has(text.trim());
const isSentence = (text: string): boolean =>
  hasWord(text) &&
  (/^[A-Z](?:[a-z]+| [a-z]{2,})/.test(text) ||
    /(?:^|\s)[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}/.test(text)) &&
  !/[({|=]/.test(text);

/** Returns the literal texts of a file of the console that a reader would meet and that no language pack could replace. */
export function uiLiterals(source: Parsed): string[] {
  const found: string[] = [];
  walk(source.file, (node, parents) => {
    const text = literalOf(node);
    if (text !== undefined && isRead(node, text, parents)) {
      found.push(`${placeOf(source, node)} ${JSON.stringify(text.trim())}`);
    }
  });
  return found;
}

const literalOf = (node: Node): string | undefined =>
  isJsxText(node) ||
  isStringLiteralLikeNode(node) ||
  isTemplateHead(node) ||
  isTemplateMiddleOrTail(node)
    ? node.text
    : undefined;

function isRead(node: Node, text: string, parents: readonly Node[]): boolean {
  const parent = parents.at(-1)!;
  if (isImportDeclaration(parent) || isLiteralTypeNode(parent)) {
    return false;
  }
  const element = parents.findLast(isJsxElement);
  if (isJsxText(node)) {
    return hasWord(text) && !isSample(element);
  }
  const around = parents.findLast((outer) => !carries(outer, node));
  if (around && isJsxAttribute(around)) {
    const name = around.name.getText();
    return name === 'class' ? false : readAttributes.has(name) ? hasWord(text) : isSentence(text);
  }
  return around && isJsxElement(around) ? hasWord(text) && !isSample(element) : isSentence(text);
}

/** What a reader types or presses stands in these, as it is. */
const isSample = (element: Node | undefined): boolean =>
  element !== undefined &&
  isJsxElement(element) &&
  ['code', 'kbd'].includes(element.openingElement.tagName.getText());

/** Whether the value of an expression may be the literal within it. */
function carries(outer: Node, literal: Node): boolean {
  if (isBinaryExpression(outer)) {
    return [
      SyntaxKind.AmpersandAmpersandToken,
      SyntaxKind.BarBarToken,
      SyntaxKind.QuestionQuestionToken,
      SyntaxKind.PlusToken,
    ].includes(outer.operatorToken.kind);
  }
  return (
    isJsxExpression(outer) ||
    isParenthesizedExpression(outer) ||
    isTemplateExpression(outer) ||
    isTemplateSpan(outer) ||
    (isConditionalExpression(outer) && outer.condition !== literal)
  );
}
