import { address, usePlace } from '../../browser/location.ts';
import { rule as text } from '../../text/english/alerting/rules.ts';
import {
  ruleTemplates as names,
  templateNotes as notes,
  templateSubjects,
} from '../../text/english/alerting/rule-templates.ts';
import { Head } from '../../kit/parts.tsx';
import { RuleForm } from './rule-form.tsx';
import { draftFrom, draftOfQuery } from './rule.ts';
import { subjects, templates } from './templates.ts';

/** Creates a rule, from a template that the address names or from a query that it brings. */
export function NewRule() {
  const { query } = usePlace();
  const asked = query.get('q') ?? '';
  const template = templates.find(({ id }) => id === query.get('template'));
  if (asked !== '') {
    return <RuleForm key={asked} {...draftOfQuery(asked)} />;
  }
  return template === undefined ? (
    <TemplateChoice />
  ) : (
    <RuleForm key={template.id} first={draftFrom(template.body, names[template.id])} />
  );
}

const TemplateChoice = () => (
  <>
    <Head title={text.new} note={text.chooseNote} />
    <div class="template-choice">
      {subjects.map((subject) => (
        <section key={subject}>
          <h2>{templateSubjects[subject]}</h2>
          <ul>
            {templates
              .filter((one) => one.subject === subject)
              .map(({ id }) => (
                <li key={id}>
                  <a href={address(['rules', 'new'], { template: id })}>
                    <b>{names[id]}</b>
                    <span class="soft">{notes[id]}</span>
                  </a>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </div>
  </>
);
