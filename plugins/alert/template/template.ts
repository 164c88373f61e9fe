import type { LabelRecord } from 'svc/contracts/metricsdb';
import { histogramText, type NativeHistogram } from 'svc/native-histogram';
import { messageOf } from 'svc/sdk';
import {
  compileTemplate,
  type Opaque,
  shownAs,
  type Template,
  type TemplateFunction,
  templateFunction,
} from 'svc/template';

import { wrongField } from '../rule/condition-fields.ts';
import type { Rule } from '../rule/rule.ts';
import { type TemplateQuery, templateFunctions } from './functions.ts';
import type { NameOfDevice, RenderLabels, Snapshot } from './rendering.ts';

const limits = { output: 16 * 1024, steps: 20_000 };
const variables = [
  'labels',
  'value',
  'threshold',
  'eta',
  'device',
  'externalLabels',
  'externalURL',
] as const;

/** Context that a template may show besides the alert itself. */
export interface TemplateContext {
  readonly externalLabels: Readonly<Record<string, string>>;
  readonly externalUrl: string;
  readonly nameOf: NameOfDevice;
}

export const emptyContext: TemplateContext = {
  externalLabels: {},
  externalUrl: '',
  nameOf: (id) => `device ${id}`,
};

/**
 * Compiles an annotation; throws invalid_argument with line and column. An unknown function is an
 * error too, as it could never become known later.
 */
export function compileAnnotation(text: string, context: TemplateContext = emptyContext): Template {
  return compileTemplate(text, { functions: functionsFor(context), variables, limits });
}

const usual = templateFunctions('');
const functionsFor = ({ externalUrl }: TemplateContext): ReadonlyMap<string, TemplateFunction> =>
  externalUrl === '' ? usual : templateFunctions(externalUrl);

/** Prometheus functions that link to its own pages. */
const ofItsPages = ['tableLink', 'graphLink'];

/** Throws, as Prometheus does, for what it could not render; answers what of it cannot be rendered here. */
export function assertRendersInPrometheus(text: string): string | undefined {
  const pageLinks = ofItsPages.map((name) => [name, templateFunction(1, 1, () => '')] as const);
  compileTemplate(text, { functions: new Map([...usual, ...pageLinks]), variables, limits });
  try {
    compileAnnotation(text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

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
const maxCompiled = 2_000;

/** Renders what rules write of their own: annotations and labels. A template is compiled once. */
export class RuleTexts {
  readonly #context: TemplateContext;
  readonly #compiled = new Map<string, Template>();
  readonly #functions: ReadonlyMap<string, TemplateFunction>;
  /** Query function of the current rendering. */
  #query: TemplateQuery | undefined;

  constructor(context: TemplateContext = emptyContext) {
    this.#context = context;
    this.#functions = templateFunctions(context.externalUrl, (expr) => {
      if (this.#query === undefined) {
        throw new Error('no store can be queried here');
      }
      return this.#query(expr);
    });
  }

  annotations(
    rule: Pick<Rule, 'annotations'>,
    snapshot: Snapshot,
    query?: TemplateQuery,
  ): Readonly<Record<string, string>> {
    this.#query = query;
    return Object.fromEntries(
      Object.entries(rule.annotations).map(
        ([name, text]) => [name, this.#render(text, snapshot)] as const,
      ),
    );
  }

  /**
   * Renders labels: a templated one counts as the alert's own, and an empty one removes that of the
   * series.
   */
  labels(
    rule: Rule,
    { ...series }: LabelRecord,
    value: number,
    histogram?: NativeHistogram,
  ): ReturnType<RenderLabels> {
    const { __name__: _name, ...unnamed } = series;
    const given = Object.entries(rule.labels);
    if (given.length === 0) {
      return { own: unnamed, all: unnamed };
    }
    const left = Object.entries(unnamed).filter(([name]) => !Object.hasOwn(rule.labels, name));
    const plain = given.filter(([, text]) => text !== '' && !text.includes('{{'));
    this.#query = undefined;
    const rendered = given
      .filter(([, text]) => text.includes('{{'))
      .map(
        ([name, text]) =>
          [name, this.#render(text, labelSnapshot(rule, series, { value, histogram }))] as const,
      )
      .filter(([, text]) => text !== '');
    const own = Object.fromEntries([...left, ...rendered]);
    return { own, all: { ...own, ...Object.fromEntries(plain) } };
  }

  #render(text: string, snapshot: Snapshot): string {
    if (!text.includes('{{')) {
      return text;
    }
    try {
      return renderText(this.#templateOf(text), snapshot, this.#context);
    } catch (error) {
      return `<error expanding template: ${messageOf(error)}>`;
    }
  }

  #templateOf(text: string): Template {
    const known = this.#compiled.get(text);
    if (known !== undefined) {
      return known;
    }
    const template = compileTemplate(text, { functions: this.#functions, variables, limits });
    if (this.#compiled.size >= maxCompiled) {
      this.#compiled.delete(this.#compiled.keys().next().value!);
    }
    this.#compiled.set(text, template);
    return template;
  }
}

const labelSnapshot = (
  { rule_key, name, severity, scope_type }: Rule,
  labels: LabelRecord,
  { value, histogram }: { readonly value: number; readonly histogram: NativeHistogram | undefined },
): Snapshot => ({
  rule_key,
  rule_name: name,
  severity,
  scope_type,
  labels,
  value,
  ...(histogram && { histogram }),
  scope_id: '',
  fired_at: '',
});

/** A value that is no number: it is printed, and nothing else can be done with it. */
class ShownHistogram implements Opaque {
  readonly #histogram: NativeHistogram;

  constructor(histogram: NativeHistogram) {
    this.#histogram = histogram;
  }

  [shownAs](): string {
    return histogramText(this.#histogram);
  }
}

/**
 * The incident's fields by their own names and under `.incident`; labels and value also as
 * Prometheus names them, and `$device` as the current name of the host.
 */
export function renderText(
  template: Template,
  { histogram, ...snapshot }: Snapshot,
  { externalLabels, externalUrl, nameOf }: TemplateContext,
): string {
  const value = histogram === undefined ? snapshot.value : new ShownHistogram(histogram);
  const labels = new Map(Object.entries(snapshot.labels));
  const deviceId = labels.get('device_id');
  const incident = { ...snapshot, labels, ...(value !== undefined && { value }) };
  const external = new Map(Object.entries(externalLabels));
  const data = {
    ...incident,
    incident,
    Labels: labels,
    Value: value,
    ExternalLabels: external,
    ExternalURL: externalUrl,
  };
  return template.render(data, {
    labels,
    value,
    threshold: snapshot.threshold,
    eta: snapshot.eta,
    device: deviceId === undefined ? '' : nameOf(deviceId),
    externalLabels: external,
    externalURL: externalUrl,
  });
}
