import './styles.ts';
import { useRoute } from 'wouter';
import { AgentsPage } from './AgentsPage.tsx';
import { BlockPage } from './BlockPage.tsx';
import { CostPage } from './CostPage.tsx';
import { NotesPage } from './NotesPage.tsx';
import { SentPage } from './SentPage.tsx';
import { TimelinePage } from './TimelinePage.tsx';

/** What the capture proxy kept: agents, their histories, each block, what was sent, and what it cost. */
export default function PalacePage() {
  return (
    <div className="palace">
      <Part />
    </div>
  );
}

function Part() {
  const [isAgent, agent] = useRoute('/operate/palace/agents/:number');
  const [isBlock, block] = useRoute('/operate/palace/blocks/:id');
  const [isExchange, exchange] = useRoute('/operate/palace/exchanges/:id');
  const [isNotes] = useRoute('/operate/palace/notes');
  const [isCost] = useRoute('/operate/palace/cost');
  if (isAgent) return <TimelinePage key={agent.number} number={agent.number} />;
  if (isBlock) return <BlockPage key={block.id} id={block.id} />;
  if (isExchange) return <SentPage id={exchange.id} />;
  if (isNotes) return <NotesPage />;
  return isCost ? <CostPage /> : <AgentsPage />;
}
