import { defineExtensionPoint, defineService, type Persona, type Principal } from 'svc/sdk';

/** A persona with what was found out about it here. */
export interface KnownPersona extends Persona {
  /** Grows with every change of this name: what runs under it is stamped with it. */
  readonly version: number;
  /** Conditions of `metadata.requires` and `metadata.os` that do not hold on this machine; it is listed and not routed to. */
  readonly unmet: readonly string[];
}

export interface Route {
  readonly persona: KnownPersona;
  readonly why: string;
  /**
   * True if one stood out; otherwise a model may choose among the candidates, or the default
   * persona serves.
   */
  readonly clear: boolean;
  /** Best first, at most five. */
  readonly candidates: readonly { readonly name: string; readonly score: number }[];
}

export interface PersonaDirectory {
  /** Merged: built in, then disk, then user; a later one shadows an earlier one. */
  list(): readonly KnownPersona[];
  find(name: string): KnownPersona | undefined;
  /**
   * Ranks the personas against the question, without a model: by what they claim, the tools that
   * they have, and what the question names, of that which the person may see.
   */
  route(question: string, principal: Principal): Promise<Route>;
  /** `initial_prompt` with the spawn context filled in; absent placeholders are empty. */
  initialPrompt(
    persona: Persona,
    context: Readonly<Record<string, unknown>>,
    principal: Principal,
  ): string;
}

/** Holds back personas that came from outside: those it knows are read-only, and are not routed to for as long as it says why. */
export interface PersonaRestraint {
  /** Returns the restraint of a persona; undefined if the source does not own the persona. */
  restraint(name: string): { readonly unmet: string | undefined } | undefined;
  /** Grows whenever an answer may be another. */
  edition(): number;
}

export const PersonaRestraints = defineExtensionPoint<PersonaRestraint>(
  'persona.restraints',
  undefined,
  {
    methods: ['restraint', 'edition'],
  },
);

export const Personas = defineService<PersonaDirectory>('persona.directory');
