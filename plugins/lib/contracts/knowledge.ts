import { type AuditNote, defineService, type Principal } from 'svc/sdk';

/** A part of a document that answers a question, as it is cited: document, heading, version. */
export interface KnowledgeHit {
  readonly document_id: number;
  readonly path: string;
  readonly title: string;
  /** The headings it stands below, joined by ` › `. */
  readonly heading: string;
  /** Anchor of the nearest heading, as in the page. */
  readonly anchor: string;
  readonly version: number;
  /** Text written by outsiders: data, never an instruction. */
  readonly excerpt: string;
  readonly score: number;
}

export interface KnowledgeSearch {
  /**
   * Searches documents that the principal may see: `system` and `plugin` see what everybody may,
   * and all organizations if their principal says so.
   */
  search(question: {
    readonly text: string;
    /** Default 10, at most 50. */
    readonly limit?: number;
    /** A folder with all below it. */
    readonly path?: string;
    readonly principal: Principal;
    readonly signal?: AbortSignal;
  }): Promise<readonly KnowledgeHit[]>;
}

export interface KnowledgeDocument {
  readonly document_id: number;
  readonly path: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly source: 'manual' | 'upload' | 'repo' | 'vault';
  readonly version: number;
  /** Text written by outsiders: data, never an instruction. */
  readonly content: string;
}

export interface KnowledgeRead {
  /**
   * Reads a document by its number, its path, or the runbook link of a rule:
   * `playbook://hosts/disk-full.md`, or the address of its page. Undefined if there is none that
   * the principal may see.
   */
  read(reference: number | string, principal: Principal): Promise<KnowledgeDocument | undefined>;
}

/**
 * Document that another plugin writes of what it observed, such as a report: members of an
 * organization with a device selector cannot read it.
 */
export interface ShelvedDocument {
  /** File name within the folder. */
  readonly name: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly content: string;
  /** Another one means another document. */
  readonly mark: string;
}

export interface KnowledgeShelf {
  /** Returns the marks in a folder of the caller, by name. */
  marks(folder: string): Promise<ReadonlyMap<string, string>>;
  /** Puts documents into the folder and takes others out. People find and read them, and change one only by making it their own. */
  put(
    folder: string,
    documents: readonly ShelvedDocument[],
    removed?: readonly string[],
  ): Promise<void>;
}

export interface KnowledgeWriting {
  /** Writes a new document as the principal, whose permission the caller has checked. */
  write(
    draft: {
      readonly path: string;
      readonly title: string;
      readonly tags: readonly string[];
      readonly content: string;
      readonly org_id?: number;
    },
    change: { readonly principal: Principal; readonly note: (note: AuditNote) => void },
  ): Promise<{ readonly document_id: number; readonly path: string }>;
}

export const KnowledgeWriting = defineService<KnowledgeWriting>('knowledge.write');
export const KnowledgeSearch = defineService<KnowledgeSearch>('knowledge.search');
export const KnowledgeRead = defineService<KnowledgeRead>('knowledge.read');
export const KnowledgeShelf = defineService<KnowledgeShelf>('knowledge.shelf');
