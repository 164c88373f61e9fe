const worn = new Set<string>();

/** Adds the style rules of a page to the document; the first page does not have to carry them. */
export function wear(rules: string): void {
  if (!worn.has(rules)) {
    worn.add(rules);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(rules);
    document.adoptedStyleSheets.push(sheet);
  }
}
