declare module '*.css' {
  /** With `{ type: 'text' }`: for rules that belong to code which is loaded on demand. */
  const rules: string;
  export default rules;
}
