package grounding

import "strings"

// givenNames are names of people that are hardly ever anything else: one that no
// evidence holds is of somebody whom nobody named.
var givenNames = words(`aaron adam albert albrecht adele adrian agnes ahmed ahmet aisha alan alejandro alessandro alex alexander alexandra alfred ali alice alicia amelie amir amira amy ana anders andrea andreas andrew angela anita anja anke ann anna anne annette annika anton antonia antonio
	arne arthur astrid axel ayse aylin barbara bastian beate beatrice ben benedikt benjamin bernd bettina birgit bjorn björn boris brian brigitte bruno carina carl carla carlos carmen carol caroline carsten catherine cecilia celine charles charlotte chiara chloe chris christian christiane christina christine christoph christopher claire clara claudia clemens
	constanze cornelia dagmar damian daniel daniela david debora deborah dennis diana diego dieter dirk dominik donald dorothea doris dorothee eberhard edgar edith eduard edward elena eleni elif elisa elisabeth elizabeth elke ella ellen elsa emil emilia emily emma emre enrico eric erik erika ernst esra esther eva evelyn fabian fatima fatma felix ferdinand finn fiona florian frances francesca francesco francis frank franz
	franziska frederik frida friedrich fritz gabriel gabriele georg george gerald gerd gerhard gesa gisela giovanni giulia greta gudrun guido gunter gustav günter hakan hannah hannes hans harald hasan heather hedwig heidi heike heiko heiner heinrich heinz helen helena helene helga helmut hendrik henning henri henrik henrike henry herbert hermann hilde holger horst hugo ian ibrahim ida ilse imke ines inga inge ingo ingrid irene iris irina isabel isabella isabelle ivan jacob jakob james jan jana jane janine
	jannik jasmin jason jean jeffrey jennifer jens jeremy jessica joachim joan joana jochen joe joel johan johann johanna johannes john jonas jonathan jorge jose josef joseph josephine joshua juan judith julia julian juliane julius jürgen karen karin karl karla karsten katarina katharina katherine kathrin katja katrin kemal kenneth kerstin kevin kilian kim kirsten klara klaus konrad konstantin kristian kristin kristina kurt lara larissa lars laura lauren laurenz lea leah lena leo leon leonard leonie lilian lilly
	linda linus lisa lorenz lothar louis louisa louise luca lucas lucia ludwig luis luisa luka lukas luke lutz magdalena maja malte manfred manuel manuela marc marcel marco marcus margarete margit maria marianne marie marina mario marion marius markus marlene marta martha martin martina mary mathias mathilda matteo matthew matthias maurice maximilian mehmet melanie melissa merle mia michael michaela michal michelle miguel mika mike mila milan mina miriam mirjam mohamed mohammed mona monica monika moritz murat mustafa nadine nadja natalie natascha
	nathalie nele nicholas nico nicola nicolas nicole niels nikolai nikolas nils nina noah nora norbert olaf ole oleg olga oliver olivia omar oscar oskar otto paolo pascal patricia patrick paul paula pauline pedro peter petra philip philipp philippa phoebe pia pierre rachel rafael rainer ralf ralph raphael rebecca regina reiner reinhard renate rene richard rita robert robin roland rolf ronald rosa roxane rudolf rupert ruth sabine sabrina samuel sandra sara sarah sascha sebastian selma serena sergio sibylle sigrid silke silvia simon simone sofia
	sofie sonja sophia sophie stefan stefanie steffen stella stephan stephanie stephen steven susan susanne svenja sven swantje sylvia tamara tanja tatjana theo theodor theresa thomas thorsten tilda tilo tim timo tina tobias tom tomas toni torben torsten tristan udo ulla ulrich ulrike ursula ute uwe valentin valentina vanessa vera verena veronika victor victoria viktor viktoria vincent viola vivian volker walter wanda werner wiebke wilhelm william winfried wolfgang xaver yannick yara yasmin yusuf yvonne zoe zeynep`)

// places are towns and countries as German and English call them; those of one
// line are the same one.
var places = func() map[string][]string {
	m := map[string][]string{}
	for _, line := range strings.Split(`berlin
hamburg
münchen munich muenchen
köln cologne koeln
frankfurt
stuttgart
düsseldorf dusseldorf duesseldorf
leipzig
dortmund
bremen
dresden
hannover hanover
nürnberg nuremberg
duisburg
bochum
wuppertal
bielefeld
bonn
münster
mannheim
karlsruhe
augsburg
wiesbaden
mönchengladbach
gelsenkirchen
aachen
braunschweig brunswick
chemnitz
kiel
halle
magdeburg
freiburg
krefeld
mainz
lübeck
erfurt
rostock
kassel
potsdam
saarbrücken
oldenburg
osnabrück
heidelberg
darmstadt
regensburg
würzburg
göttingen
wolfsburg
heilbronn
ulm
ingolstadt
konstanz constance
flensburg
cuxhaven
bremerhaven
wilhelmshaven
emden
jena
weimar
passau
trier
tübingen
wien vienna
graz
linz
salzburg
innsbruck
zürich zurich
basel basle
bern
genf geneva
lausanne
luzern lucerne
london
manchester
birmingham
liverpool
leeds
bristol
edinburgh
glasgow
cardiff
belfast
dublin
cork
paris
lyon
marseille
straßburg strasbourg strassburg
nizza nice_
bordeaux
toulouse
lille
brüssel brussels
antwerpen antwerp
gent ghent
amsterdam
rotterdam
utrecht
eindhoven
luxemburg luxembourg
kopenhagen copenhagen
aarhus
stockholm
göteborg gothenburg
malmö
oslo
bergen
helsinki
tallinn
riga
vilnius
warschau warsaw
krakau krakow kraków
danzig gdansk gdańsk
breslau wroclaw
posen poznan
prag prague
brünn brno
bratislava
budapest
bukarest bucharest
sofia_
belgrad belgrade
zagreb
ljubljana
athen athens
istanbul
ankara
izmir
rom rome
mailand milan_
turin
venedig venice
florenz florence_
neapel naples
bologna
genua genoa
triest trieste
madrid
barcelona
valencia
sevilla seville
bilbao
lissabon lisbon
porto
moskau moscow
kiew kyiv
chicago
boston
seattle
toronto
montreal
vancouver
tokio tokyo
osaka
peking beijing
shanghai
singapur singapore
mumbai
delhi
sydney
melbourne
kairo cairo
nairobi
casablanca
dubai
deutschland germany de
österreich austria at
schweiz switzerland ch
frankreich france fr
italien italy it
spanien spain es
portugal pt
belgien belgium be
niederlande netherlands nl
dänemark denmark dk
schweden sweden se
norwegen norway no
finnland finland fi
polen poland pl
tschechien czechia cz
ungarn hungary hu
rumänien romania
bulgarien bulgaria
griechenland greece gr
türkei turkey tr
irland ireland ie
schottland scotland
japan jp
china_
indien india in
brasilien brazil br
kanada canada ca
mexiko mexico
australien australia`, "\n") {
		list := strings.Fields(line)
		for _, w := range list {
			if len(w) > 2 { // a code is no name by itself
				m[fold(w)] = list
			}
		}
	}
	return m
}()

// titled are words that English writes with a capital and that name nobody.
var titled = words(`norwegian finnish portuguese russian ukrainian turkish arabic chinese japanese korean greek hungarian czech romanian croatian latin
	english german french italian spanish dutch polish danish swedish european american british swiss austrian christmas easter pentecost whitsun
	internet ok iso eu uk us usa mr mrs ms dr prof sir madam january february march april may june july august september october november december
	monday tuesday wednesday thursday friday saturday sunday spring summer autumn winter central local court appeal appeals division regional district federal patent office
	landgericht oberlandesgericht amtsgericht bundesgerichtshof bundespatentgericht ende anfang mitte
	rule rules article articles section sections chapter appendix annex paragraph figure table room hall floor level building street road avenue square north south east west
	euro euros dollar dollars pound pounds celsius fahrenheit bluetooth excel word pdf google microsoft apple`)
