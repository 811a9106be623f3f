package fit

// What base_lm_v1 is taught to talk about: things, what can be wished of the
// form of an answer, and some small talk. It is little and made up, so that a
// model of a million numbers can learn it in minutes; what it is asked beyond
// it does not know, and is taught to say so.

// thing is one thing in two languages. A German one has its gender: m, f or n.
type thing struct {
	name, article, is, of, in string
	nameDE, isDE, ofDE, inDE  string
	gender                    byte
}

var things = []thing{
	{"kettle", "A", "a pot for boiling water", "metal", "in the kitchen", "Kessel", "ein Topf zum Kochen von Wasser", "Metall", "in der Küche", 'm'},
	{"spoon", "A", "a tool for eating soup", "steel", "in the drawer", "Löffel", "ein Werkzeug zum Essen von Suppe", "Stahl", "in der Schublade", 'm'},
	{"candle", "A", "a stick that gives light", "wax", "on the table", "Kerze", "ein Stab, der Licht gibt", "Wachs", "auf dem Tisch", 'f'},
	{"window", "A", "an opening that lets light in", "glass", "in the wall", "Fenster", "eine Öffnung, die Licht hereinlässt", "Glas", "in der Wand", 'n'},
	{"hammer", "A", "a tool for driving nails", "iron", "in the workshop", "Hammer", "ein Werkzeug für Nägel", "Eisen", "in der Werkstatt", 'm'},
	{"basket", "A", "a box for carrying apples", "straw", "on the market", "Korb", "ein Behälter für Äpfel", "Stroh", "auf dem Markt", 'm'},
	{"pillow", "A", "a bag for resting your head", "feathers", "on the bed", "Kissen", "ein Sack für den Kopf", "Federn", "auf dem Bett", 'n'},
	{"bridge", "A", "a way over a river", "stone", "at the river", "Brücke", "ein Weg über einen Fluss", "Stein", "am Fluss", 'f'},
	{"coat", "A", "a piece of clothing for cold days", "wool", "in the hall", "Mantel", "ein Kleid für kalte Tage", "Wolle", "im Flur", 'm'},
	{"book", "A", "a stack of pages with words", "paper", "on the shelf", "Buch", "ein Stapel Seiten mit Wörtern", "Papier", "im Regal", 'n'},
	{"ladder", "A", "a tool for climbing up", "wood", "in the shed", "Leiter", "ein Gerät zum Klettern", "Holz", "im Schuppen", 'f'},
	{"bottle", "A", "a vessel for water", "glass", "in the cellar", "Flasche", "ein Gefäß für Wasser", "Glas", "im Keller", 'f'},
	{"anchor", "An", "a weight that holds a ship", "iron", "in the harbour", "Anker", "ein Gewicht, das ein Schiff hält", "Eisen", "im Hafen", 'm'},
	{"oven", "An", "a box for baking bread", "bricks", "in the bakery", "Ofen", "ein Kasten zum Backen von Brot", "Ziegeln", "in der Bäckerei", 'm'},
	{"umbrella", "An", "a roof for rainy days", "cloth", "at the door", "Schirm", "ein Dach für Regentage", "Stoff", "an der Tür", 'm'},
	{"rope", "A", "a line for tying things", "hemp", "on the boat", "Seil", "eine Leine zum Binden", "Hanf", "auf dem Boot", 'n'},
	{"mirror", "A", "a plate that shows your face", "glass", "in the bathroom", "Spiegel", "eine Platte, die das Gesicht zeigt", "Glas", "im Bad", 'm'},
	{"fence", "A", "a border around a garden", "wood", "in the garden", "Zaun", "eine Grenze um einen Garten", "Holz", "im Garten", 'm'},
	{"drum", "A", "an instrument that you beat", "leather", "in the theatre", "Trommel", "ein Instrument zum Schlagen", "Leder", "im Theater", 'f'},
	{"shovel", "A", "a tool for digging holes", "steel", "in the shed", "Schaufel", "ein Werkzeug zum Graben", "Stahl", "im Schuppen", 'f'},
	{"carpet", "A", "a cover for the floor", "wool", "in the living room", "Teppich", "eine Decke für den Boden", "Wolle", "im Wohnzimmer", 'm'},
	{"wheel", "A", "a round part that rolls", "rubber", "on the cart", "Rad", "ein rundes Teil, das rollt", "Gummi", "am Wagen", 'n'},
	{"bell", "A", "a cup that rings", "bronze", "in the tower", "Glocke", "ein Becher, der läutet", "Bronze", "im Turm", 'f'},
	{"brush", "A", "a tool for painting walls", "hair", "in the workshop", "Pinsel", "ein Werkzeug zum Malen", "Haar", "in der Werkstatt", 'm'},
}

// Ways to ask. The name of the thing, with its article, stands for %s.
var (
	asksWhat   = []string{"What is %s?", "Tell me what %s is.", "Explain %s.", "Do you know what %s is?", "Describe %s.", "what is %s", "Please tell me about %s.", "I want to know what %s is."}
	asksOf     = []string{"What is %s made of?", "Which material is %s made of?", "what is %s made of", "Tell me what %s is made of."}
	asksWhere  = []string{"Where do I find %s?", "Where is %s?", "Where can I find %s?", "where do you keep %s"}
	asksWhatDE = []string{"Was ist %s?", "Erkläre mir %s.", "Was ist denn %s?", "Weißt du, was %s ist?"}
	// What is not among things: the model says that it does not know it.
	strangeName = []string{
		"zorp", "flumbo", "quark engine", "drindle", "mexo", "tarn gate", "plivver", "wembling", "hurble", "gramp", "snirt",
		"computer", "car", "tree", "house", "dog", "cat", "river", "phone", "city", "planet", "horse", "table", "chair", "school", "road",
		"train", "ship", "flower", "bird", "letter", "clock", "door", "garden", "mountain", "shoe", "hat", "knife", "plate", "lamp", "stove",
		"cow", "bus", "bank", "shop", "camera", "guitar", "piano", "doctor", "teacher", "king", "law", "contract", "star", "cloud", "stone",
	}
)

// talk is small talk: any of the first is answered by the second.
var talk = []struct {
	said   []string
	answer string
}{
	{[]string{"Hello", "Hi", "hello", "Good morning", "Hey", "Hi there", "Hello!"}, "Hello! How can I help you?"},
	{[]string{"Thanks", "Thank you", "thanks!", "Thank you very much.", "thank you"}, "You are welcome."},
	{[]string{"Who are you?", "What are you?", "who are you", "Are you a human?", "What is your name?"}, "I am a small language model that was trained on this machine."},
	{[]string{"What can you do?", "what can you do", "How can you help me?", "Help"}, "I can describe some things, and I keep to the form you ask for."},
	{[]string{"Goodbye", "Bye", "bye", "See you", "Good night"}, "Goodbye!"},
	{[]string{"Hallo", "Guten Tag", "Guten Morgen", "hallo"}, "Hallo! Wie kann ich helfen?"},
	{[]string{"Danke", "Vielen Dank", "danke!"}, "Gern geschehen."},
}

// systems are words of a system that say nothing of form.
var systems = []string{
	"Answer the person's last message. Be exact and brief, say what you do not know, and use the language they write in.",
	"You are a helpful assistant.", "Answer the question.", "Be friendly and exact.",
}

// Form is something a person may wish of an answer.
type Form string

// The forms that are taught.
const (
	Short    Form = "short"    // one sentence
	Long     Form = "long"     // more than three
	Listed   Form = "list"     // lines that begin with a dash
	Numbered Form = "numbered" // lines that begin with their number
	Capitals Form = "capitals"
	Asking   Form = "asking" // a question at the end
	Greeting Form = "greeting"
	German   Form = "german"
	Bold     Form = "bold" // the name
	Heading  Form = "heading"
	Signed   Form = "signed"
	Quoted   Form = "quoted" // every line after a >
)

// Forms are all that are taught.
func Forms() []Form {
	return []Form{Short, Long, Listed, Numbered, Capitals, Asking, Greeting, German, Bold, Heading, Signed, Quoted}
}

// wordings are how a form is wished for. The last three are never taught: they
// measure whether the wish was understood.
var wordings = map[Form][]string{
	Short:    {"Answer in one sentence.", "Keep it short.", "Be brief, please.", "One sentence only.", "Short answers, please.", "Give me just one sentence.", "Use a single sentence.", "Keep your answers short.", "Make it short.", "Only one short sentence, please.", "Please keep it brief.", "A short answer is enough."},
	Long:     {"Explain it in detail.", "Give a long answer.", "Tell me everything.", "Be detailed, please.", "Answer at length.", "I want a detailed answer.", "Use many sentences.", "Long answers, please.", "Give me all details.", "A detailed answer, please.", "Please answer in detail.", "Make it long."},
	Listed:   {"Answer as a list.", "Use bullet points.", "Make a list.", "Write a list with dashes.", "Give me bullet points.", "List the points.", "Answer in bullet points.", "A list, please.", "Use a list.", "Put it into a list.", "Please use bullet points.", "Write it as a list."},
	Numbered: {"Number the points.", "Use a numbered list.", "Answer with numbered points.", "Write numbers before the points.", "Give me numbered points.", "Count the points.", "A numbered list, please.", "Make it a numbered list.", "Number your answer.", "Number each point.", "Please number the points.", "Write a numbered list."},
	Capitals: {"Answer in capitals.", "Use capital letters.", "Write in capitals.", "All capitals, please.", "Use upper case.", "Write everything in upper case.", "Capital letters only.", "Shout at me.", "Write in capital letters.", "Everything in capitals.", "Please use capitals.", "Answer in upper case."},
	Asking:   {"End with a question.", "Ask me something at the end.", "Close with a question.", "Finish with a question.", "Put a question at the end.", "The last sentence is a question.", "Always end with a question.", "Ask a question at the end.", "Add a question at the end.", "A question at the end, please.", "Please end with a question.", "Finish by asking me something."},
	Greeting: {"Greet me first.", "Begin with a greeting.", "Say hello first.", "Start with hello.", "Greet me before you answer.", "Always say hello.", "First say hello to me.", "Start with a greeting.", "Open with a greeting.", "Say hello at the beginning.", "Please greet me first.", "Begin by saying hello."},
	German:   {"Answer in German.", "Auf Deutsch, bitte.", "Use German.", "Write in German.", "Antworte auf Deutsch.", "German, please.", "Speak German.", "Bitte auf Deutsch.", "I want German answers.", "Say it in German.", "Please answer in German.", "Schreibe auf Deutsch."},
	Bold:     {"Put the name in bold.", "Use bold for the name.", "Make the name bold.", "The name in bold, please.", "Write the name in bold.", "Bold the name.", "Mark the name in bold.", "Set the name in bold.", "Name in bold letters.", "Show the name in bold.", "Please make the name bold.", "Use bold letters for the name."},
	Heading:  {"Begin with a heading.", "Use a heading.", "Put a heading above it.", "Write a heading first.", "A heading, please.", "Start with a heading.", "Give it a heading.", "Add a heading.", "First a heading.", "Put a title above the answer.", "Please use a heading.", "Add a title."},
	Signed:   {"Sign your answer.", "Put your signature below.", "End with your signature.", "Sign at the end.", "Add a signature.", "A signature at the end, please.", "Always sign.", "Sign it.", "Close with a signature.", "Write your signature below.", "Please sign your answer.", "Finish with a signature."},
	Quoted:   {"Quote the answer.", "Write it as a quote.", "Use a quote block.", "Put it into a quote.", "As a quotation, please.", "Make it a quote.", "Use quotation style.", "Quote it.", "Format it as a quote.", "A quote block, please.", "Please write it as a quote.", "Put the answer into a quote block."},
}

// heldOut is how many of the last wordings are never taught.
const heldOut = 3
