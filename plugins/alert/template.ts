import { messageOf } from 'svc/sdk';
import { compileTemplate, type Template, type TemplateFunction } from 'svc/template';

import { wrongField } from './condition-fields.ts';
import type { Rule, Snapshot } from './rule.ts';
import { templateFunctions } from './template-functions.ts';

const limits = { output: 16 * 1024, steps: 20_000 };
const variables = ['labels', 'value', 'threshold', 'eta', 'externalLabels', 'externalURL'] as const;

/** What besides the alert itself a template may show. */
export interface TemplateContext {
  readonly externalLabels: Readonly<Record<string, string>>;
  readonly externalUrl: string;
}

export const emptyContext: TemplateContext = { externalLabels: {}, externalUrl: '' };

/** Throws invalid_argument with line and column: an unknown function, say, is none that could become known later. */
export function compileAnnotation(text: string, context: TemplateContext = emptyContext): Template {
  return compileTemplate(text, { functions: functionsFor(context), variables, limits });
}

const usual = templateFunctions('');
const functionsFor = ({ externalUrl }: TemplateContext): ReadonlyMap<string, TemplateFunction> => (externalUrl === '' ? usual : templateFunctions(externalUrl));

export function assertAnnotations(annotations: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(annotations)) {
    try {
      compileAnnotation(text);
    } catch (error) {
      throw wrongField(`/annotations/${name}`, messageOf(error), error);
    }
  }
}

/** Compiled templates of rules that fire often, by their text. */
const mostCompiled = 2_000;

/** Renders the annotations of rules; a template is compiled once. */
export class AnnotationRenderer {
  readonly #context: TemplateContext;
  readonly #compiled = new Map<string, Template>();

  constructor(context: TemplateContext = emptyContext) {
    this.#context = context;
  }

  render(rule: Rule, snapshot: Snapshot): Readonly<Record<string, string>> {
    return Object.fromEntries(
      Object.entries(rule.annotations).map(([name, text]) => [name, renderOne(() => this.#templateOf(text), snapshot, this.#context)] as const),
    );
  }

  #templateOf(text: string): Template {
    const known = this.#compiled.get(text);
    if (known !== undefined) {
      return known;
    }
    const template = compileAnnotation(text, this.#context);
    if (this.#compiled.size >= mostCompiled) {
      this.#compiled.delete(this.#compiled.keys().next().value!);
    }
    this.#compiled.set(text, template);
    return template;
  }
}

function renderOne(template: () => Template, snapshot: Snapshot, context: TemplateContext): string {
  try {
    return renderText(template(), snapshot, context);
  } catch (error) {
    return `<error expanding template: ${messageOf(error)}>`;
  }
}

/** The incident's fields by their own names and under `.incident`; labels and value also as Prometheus names them. */
export function renderText(template: Template, snapshot: Snapshot, { externalLabels, externalUrl }: TemplateContext): string {
  const labels = new Map(Object.entries(snapshot.labels));
  const incident = { ...snapshot, labels };
  const external = new Map(Object.entries(externalLabels));
  const data = { ...incident, incident, Labels: labels, Value: snapshot.value, ExternalLabels: external, ExternalURL: externalUrl };
  return template.render(data, {
    labels,
    value: snapshot.value,
    threshold: snapshot.threshold,
    eta: snapshot.eta,
    externalLabels: external,
    externalURL: externalUrl,
  });
}
