/** The plan by which the rows on the screen were found, and its cost. */
import type { Explanation, PlanNode } from '../api/types';
import type { ProjectModel } from '../project/model';
import { Drawer } from '../ui/drawer';
import { dollarsOfMillion } from '../view/price';
import { FilterWords } from './filter-words';
import { words } from '../words';

export function ExplainDrawer({ model }: { readonly model: ProjectModel }) {
  const explanation = model.explanation.value;
  return (
    <Drawer title={words.explain.title} onClose={() => model.panels.close()}>
      <FilterWords model={model} />
      {explanation ? <Plan explanation={explanation} /> : <p>{words.explain.none}</p>}
    </Drawer>
  );
}

function Plan({ explanation }: { readonly explanation: Explanation }) {
  const { calls, items_read, read_units, sequential_calls, tree } = explanation;
  const units = Number(read_units);
  const before = beforeThePlan(explanation);
  return (
    <>
      <dl class="figures">
        <Figure name={words.explain.units} value={words.explain.amount(units)} />
        <Figure name={words.explain.million} value={words.explain.dollars(dollarsOfMillion(units))} />
        <Figure name={words.explain.calls} value={words.count(calls.length)} />
        <Figure name={words.explain.rounds} value={words.count(sequential_calls)} />
        <Figure name={words.explain.items} value={words.count(items_read)} />
      </dl>
      <h3>{words.explain.plan}</h3>
      {before.map((sentence) => (
        <p key={sentence} class="soft">
          {sentence}
        </p>
      ))}
      <ul class="plan">
        <Node node={tree} />
      </ul>
      <h3>{words.explain.calls}</h3>
      <div class="scroller" tabIndex={0} role="region" aria-label={words.explain.calls}>
        <table class="table">
          <thead>
            <tr>
              <th scope="col" class="end">
                {words.explain.round}
              </th>
              <th scope="col">{words.explain.operation}</th>
              <th scope="col">{words.explain.target}</th>
              <th scope="col" class="end">
                {words.explain.items}
              </th>
              <th scope="col" class="end">
                {words.explain.units}
              </th>
            </tr>
          </thead>
          <tbody>
            {calls.map((call, at) => (
              <tr key={at}>
                <td class="end">{call.round}</td>
                <td>{call.operation}</td>
                <td>{call.target}</td>
                <td class="end">{words.count(call.items_read)}</td>
                <td class="end">{words.explain.amount(Number(call.read_units))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** The sentences that belong to no node of the plan: the values of “today” and “me” in the filter. */
function beforeThePlan({ plan, tree }: Explanation): readonly string[] {
  const all = (node: PlanNode): readonly string[] => [node.sentence, ...(node.children ?? []).flatMap(all)];
  const nodes = new Set(all(tree));
  const first = plan.findIndex((sentence) => nodes.has(sentence));
  return plan.slice(0, Math.max(0, first));
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Node({ node }: { readonly node: PlanNode }) {
  return (
    <li>
      <div class="plan-head">
        <strong>{node.node}</strong>
        <span>
          {words.explain.used(Number(node.read_units), node.estimated ? Number(node.estimated.read_units) : null)}
        </span>
      </div>
      <p>{node.sentence}</p>
      {node.children && node.children.length > 0 && (
        <ul>
          {node.children.map((child, at) => (
            <Node key={at} node={child} />
          ))}
        </ul>
      )}
    </li>
  );
}
